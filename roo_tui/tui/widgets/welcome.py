"""The welcome text of an empty task: what to type, and the most important keys."""

from textual.app import ComposeResult
from textual.containers import Vertical
from textual.content import Content
from textual.reactive import reactive
from textual.widgets import Static

from roo_tui.tui import strings


class Welcome(Vertical):
    """The welcome lines; `suggestion` is a task to try, empty for none."""

    DEFAULT_CSS = """
    Welcome { height: 1fr; align: left middle; padding: 0 4; overflow: hidden; }
    Welcome Static { height: auto; max-width: 72; }
    """

    suggestion: reactive[str] = reactive("")

    def compose(self) -> ComposeResult:
        yield Static(self._text(), markup=False)

    def watch_suggestion(self) -> None:
        if self.is_mounted:
            self.query_one(Static).update(self._text())

    def _text(self) -> Content:
        lines = [
            Content.styled(strings.WELCOME_TITLE, "bold $text-primary"),
            Content(""),
            Content.styled(strings.WELCOME_TEXT, "$foreground"),
            Content(""),
        ]
        if self.suggestion:
            lines += [
                Content.styled(strings.WELCOME_DEMO.format(task=self.suggestion), "bold $text-accent"),
                Content.styled(strings.WELCOME_DEMO_KEYS, "$foreground-muted"),
                Content(""),
            ]
        pairs = [
            Content.assemble((f"{key:<8}", "bold"), (f"{text:<22}", "$foreground-muted"))
            for key, text in strings.WELCOME_KEYS
        ]
        lines += [Content.assemble(left, right) for left, right in zip(pairs[::2], pairs[1::2], strict=True)]
        return Content("\n").join(lines)
