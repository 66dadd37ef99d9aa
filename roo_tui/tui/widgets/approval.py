"""The approval panel: what a call would do, why it needs approval, and the keys that decide."""

from typing import ClassVar

from textual import events, on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal
from textual.content import Content
from textual.geometry import Size
from textual.scroll_view import ScrollView
from textual.strip import Strip
from textual.theme import Theme
from textual.widgets import Button, Input, Static

from roo_tui.domain.events import Approval, Question
from roo_tui.domain.views import CommandView, ToolView
from roo_tui.plain_text import clean, one_line
from roo_tui.tui import strings
from roo_tui.tui.widgets.question import QuestionAnswered, QuestionPanel
from roo_tui.tui.widgets.views import view_pieces
from roo_tui.tui.widgets.views.canvas import GUTTER, Canvas, strip
from roo_tui.tui.widgets.views.command import script_pieces
from roo_tui.tui.widgets.views.palette import Palette

_LINE_LIMIT = 5_000


class ToolBody(ScrollView, can_focus=False):
    """As high as what it shows, up to two fifths of the screen."""

    DEFAULT_CSS = "ToolBody { height: auto; overflow-x: hidden; scrollbar-size-vertical: 1; }"

    def __init__(self, view: ToolView, *, id: str | None = None) -> None:
        super().__init__(id=id)
        # Every character of a command that is yet to run is shown: the user is about to allow it.
        self._pieces = script_pieces(view.command, 0) if isinstance(view, CommandView) else view_pieces(view, indent=0)
        self._strips: list[Strip] = []
        self._drawn_for: tuple[int, str] = (0, "")

    def on_mount(self) -> None:
        self.app.theme_changed_signal.subscribe(self, self._theme_changed)

    def _theme_changed(self, _: Theme) -> None:
        self._drawn_for = (0, "")
        self.refresh(layout=True)

    def on_resize(self, _: events.Resize) -> None:
        self._draw(self.scrollable_content_region.width)

    def get_content_height(self, container: Size, viewport: Size, width: int) -> int:  # noqa: ARG002 (Textual's)
        """Return the lines of the view, at most two fifths of the screen."""
        # Not by `max-height`: a parent of automatic height would still leave space for all of it.
        self._draw(width)
        return min(len(self._strips), max(3, viewport.height * 2 // 5))

    def _draw(self, width: int) -> None:
        if width <= GUTTER or self._drawn_for == (width, self.app.theme):
            return
        self._drawn_for = (width, self.app.theme)
        palette = Palette.of(self.app.theme_variables, self.background_colors[1])
        canvas = Canvas(width - GUTTER, palette)
        blank = [(" " * GUTTER, palette.text)]
        self._strips = []
        for piece in self._pieces:
            self._strips += [
                strip(line, blank, palette.background, canvas, palette.background) for line in piece.draw(canvas)
            ]
            if len(self._strips) >= _LINE_LIMIT:
                break
        self.virtual_size = Size(width, len(self._strips))

    def render_line(self, y: int) -> Strip:
        line = y + self.scroll_offset.y
        return self._strips[line] if line < len(self._strips) else Strip.blank(self.size.width)


_KEYS = {"allow": ("y", strings.ALLOW), "always": ("a", strings.ALWAYS), "deny": ("n", strings.DENY)}


class ApprovalPanel(QuestionPanel, can_focus=True):
    """Asks whether a call may run; its keys work while it has the focus."""

    HELP = strings.APPROVE_HELP
    DEFAULT_CSS = """
    ApprovalPanel #approval-body { margin-top: 1; }
    ApprovalPanel #approval-title { height: 1; text-wrap: nowrap; text-overflow: ellipsis; }
    ApprovalPanel #approval-reasons { height: auto; max-height: 3; }
    ApprovalPanel #approval-buttons { height: 1; margin-top: 1; }
    ApprovalPanel Button { margin-right: 2; min-width: 8; }
    ApprovalPanel Input { display: none; border: none; height: 1; padding: 0 1; }
    ApprovalPanel.-feedback Input { display: block; }
    ApprovalPanel.-feedback #approval-buttons { display: none; }
    """
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("y", "decide('allow')", strings.ALLOW, show=False),
        Binding("a", "decide('always')", strings.ALWAYS, show=False),
        Binding("n", "decide('deny')", strings.DENY, show=False),
        Binding("f", "feedback", strings.FEEDBACK, show=False),
        Binding("up,k", "scroll(-1)", show=False),
        Binding("down,j", "scroll(1)", show=False),
        Binding("pageup", "scroll(-10)", show=False),
        Binding("pagedown", "scroll(10)", show=False),
    ]

    def __init__(self, question: Question, body: Approval) -> None:
        super().__init__(question)
        self._body = body

    def compose(self) -> ComposeResult:
        body = self._body
        target = "" if isinstance(body.view, CommandView) else one_line(body.title, 500)
        yield Static(
            Content.assemble(
                (strings.APPROVE_TITLE.format(tool=one_line(body.tool, 60)), "bold $text-warning"), "  ", target
            ),
            id="approval-title",
            markup=False,
        )
        if body.reasons:
            reasons = "\n".join(f"! {clean(reason)}" for reason in body.reasons)
            yield Static(Content.styled(reasons, "$text-warning"), id="approval-reasons", markup=False)
        if body.view is not None:
            yield ToolBody(body.view, id="approval-body")
        with Horizontal(id="approval-buttons"):
            for option in self.question.options:
                key, label = _KEYS.get(option.id, ("", one_line(option.label, 40)))
                yield Button(_button(key, label), id=f"option-{option.id}", compact=True)
            yield Button(_button("f", strings.FEEDBACK), id="feedback", compact=True)
        yield Input(placeholder=strings.FEEDBACK_PLACEHOLDER, compact=True)

    def less(self) -> bool:
        """Close the line for feedback. Returns whether it was open."""
        if not self.has_class("-feedback"):
            return False
        self.remove_class("-feedback")
        self.focus()
        return True

    def action_decide(self, option: str) -> None:
        """Answer, if this is one of the offered options."""
        if any(option == offered.id for offered in self.question.options):
            self.post_message(QuestionAnswered(self.question.id, option))

    def action_feedback(self) -> None:
        """Open the line for feedback."""
        self.add_class("-feedback")
        self.query_one(Input).focus()

    def action_scroll(self, lines: int) -> None:
        """Scroll what is shown."""
        for body in self.query("#approval-body"):
            body.scroll_relative(y=lines, animate=False)

    @on(Button.Pressed)
    def _pressed(self, event: Button.Pressed) -> None:
        event.stop()
        name = event.button.id or ""
        if name == "feedback":
            self.action_feedback()
        else:
            self.action_decide(name.removeprefix("option-"))

    @on(Input.Submitted)
    def _typed(self, event: Input.Submitted) -> None:
        event.stop()
        self.post_message(QuestionAnswered(self.question.id, "deny", event.value))


def _button(key: str, label: str) -> Content:
    return Content.assemble((f"{key} ", "bold"), label) if key else Content(label)
