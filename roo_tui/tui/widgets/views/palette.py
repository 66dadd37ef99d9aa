"""The colours of the transcript, read once per theme from its variables."""

from collections.abc import Mapping
from dataclasses import dataclass, fields, replace

from rich.style import Style
from textual.color import Color, ColorParseError

Variables = Mapping[str, str]


@dataclass(frozen=True, slots=True)
class Palette:
    """Styles (how text is written) and backgrounds (what it is written on) of one theme.

    Styles carry no background and backgrounds carry nothing else, so that any style can be put on any background.
    Themes of ANSI colours cannot be blended: there backgrounds are the terminal's own and only styles differ.
    """

    background: Style
    user_background: Style
    code_background: Style
    added_background: Style
    removed_background: Style
    cursor_background: Style
    selection: Style
    text: Style
    muted: Style
    faint: Style
    strong: Style
    title: Style
    user: Style
    speaker: Style
    accent: Style
    heading: Style
    code: Style
    link: Style
    quote: Style
    success: Style
    warning: Style
    error: Style
    keyword: Style
    name: Style
    type: Style
    string: Style
    number: Style
    comment: Style
    operator: Style

    @classmethod
    def of(cls, variables: Variables, base: Color) -> "Palette":
        """Return the palette of a theme; `base` is what the transcript lies on."""
        ansi = base.ansi is not None
        parse = _Parser(variables, base, ansi)
        primary, accent = parse("primary"), parse("text-accent")
        success, error = parse("text-success"), parse("text-error")
        foreground = parse("foreground")
        background = Style() if ansi else Style(bgcolor=base.rich_color)

        def tint(color: Color, amount: float) -> Style:
            return Style() if ansi else Style(bgcolor=base.blend(color, amount, 1.0).rich_color)

        def style(color: Color, share: float = 1.0, extra: str = "") -> Style:
            if ansi:
                return Style(color=color.rich_color, dim=True if share < 0.9 else None) + Style.parse(extra)
            return Style(color=base.blend(color, share, 1.0).rich_color) + Style.parse(extra)

        blue, orange = parse("text-primary"), accent
        # An ANSI theme has sixteen colours and no shades: the roles are spread over them by name.
        keyword = Color.parse("ansi_magenta") if ansi else blue.blend(error, 0.45, 1.0)
        kind = Color.parse("ansi_cyan") if ansi else blue.blend(success, 0.5, 1.0)
        return cls(
            background=background,
            user_background=tint(foreground, 0.055),
            code_background=tint(foreground, 0.035),
            added_background=tint(parse("success"), 0.14),
            removed_background=tint(parse("error"), 0.18),
            cursor_background=Style(reverse=True) if ansi else tint(primary, 0.28),
            selection=Style(bgcolor=parse("screen-selection-background").rich_color)
            if ansi
            else tint(parse("screen-selection-background"), 0.5),
            text=style(foreground, 0.92),
            muted=style(foreground, 0.58),
            faint=style(foreground, 0.32),
            strong=style(foreground, 1.0, "bold"),
            title=style(foreground, 0.95, "bold"),
            user=style(parse("text-primary"), 1.0, "bold"),
            speaker=style(foreground, 0.28),
            accent=style(accent),
            heading=style(blue, 1.0, "bold"),
            code=style(orange),
            link=style(blue, 1.0, "underline"),
            quote=style(foreground, 0.7, "italic"),
            success=style(success),
            warning=style(parse("text-warning")),
            error=style(error),
            keyword=style(keyword),
            name=style(blue),
            type=style(kind),
            string=style(success),
            number=style(orange),
            comment=style(foreground, 0.48, "italic"),
            operator=style(foreground, 0.72),
        )

    def dimmed(self, base: Color) -> "Palette":
        """Return the palette for what the model no longer sees: nearer to the background, still readable."""

        def dim(style: Style) -> Style:
            if style.color is None and style.bgcolor is None:
                return style
            if base.ansi is not None:
                return style + Style(dim=True) if style.color is not None else style
            color, background = style.color, style.bgcolor
            changes = Style(
                color=base.blend(Color.from_rich_color(color), 0.5, 1.0).rich_color if color else None,
                bgcolor=base.blend(Color.from_rich_color(background), 0.5, 1.0).rich_color if background else None,
            )
            return style + changes

        kept = {"background", "cursor_background", "selection"}
        changed = {field.name: dim(getattr(self, field.name)) for field in fields(self) if field.name not in kept}
        return replace(self, **changed)


class _Parser:
    """Reads colours from theme variables; a colour the theme does not name falls back to its foreground."""

    def __init__(self, variables: Variables, background: Color, ansi: bool) -> None:
        self._variables = variables
        self._background = background
        self._ansi = ansi

    def __call__(self, name: str) -> Color:
        value = self._variables.get(name, "") or self._variables.get("foreground", "")
        try:
            color = Color.parse(value.split()[0] if self._ansi else value)
        except (ColorParseError, IndexError):
            return Color.parse("ansi_default") if self._ansi else self._background.get_contrast_text(0.9)
        return color if self._ansi or color.a == 1 else self._background + color
