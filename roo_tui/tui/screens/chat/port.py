"""The interface through which commands use the chat."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from typing import TYPE_CHECKING, Protocol, TypeVar

from textual.notifications import SeverityLevel
from textual.screen import Screen

from roo_tui.engine_api import EngineApi

if TYPE_CHECKING:  # only a name: the line of notices is the chat's own
    from roo_tui.tui.widgets.notice_line import ShownNotice

Result = TypeVar("Result")


class ChatPort(Protocol):
    """The chat as its commands see it."""

    @property
    def engine(self) -> EngineApi | None:
        """The engine, None until it is ready."""
        ...

    def do(self, call: Callable[[EngineApi], Awaitable[object]], done: str = "") -> None:
        """Ask the engine for something and say `done` afterwards; a refusal becomes a notice."""
        ...

    def open(self, dialog: Callable[[], Awaitable[None]]) -> None:
        """Run a dialog that waits for other screens, one at a time; a refusal becomes a notice."""
        ...

    async def ask(self, screen: Screen[Result]) -> Result | None:
        """Open a screen and return what it was dismissed with."""
        ...

    def run_command(self, command_id: str, arguments: str = "") -> None:
        """Run another command."""
        ...

    def tell(self, text: str, level: SeverityLevel = "information") -> None:
        """Show a notice."""
        ...

    def show_hint(self, text: str) -> None:
        """Show a hint in the footer."""
        ...

    @property
    def past_notices(self) -> Sequence[ShownNotice]:
        """The recent notices, oldest first."""
        ...

    def close_something(self) -> bool:
        """Close the innermost open list, edit or line. Return whether there was one."""
        ...

    def dismiss_notice(self) -> None:
        """Dismiss the notice on the screen."""
        ...

    def focus_prompt(self) -> None:
        """Focus the prompt."""
        ...

    def fold_rows(self, *, expanded: bool) -> None:
        """Open or fold every row of the transcript."""
        ...

    def reveal_row(self, key: str) -> None:
        """Bring a row into view and put the cursor on it."""
        ...

    def copy_text(self, text: str) -> None:
        """Copy a text to the clipboard."""
        ...

    def copy_selection(self) -> None:
        """Copy what is selected; twice without a selection quits."""
        ...

    @property
    def help_of_focus(self) -> str:
        """The help of the focused widget."""
        ...

    @property
    def themes(self) -> Sequence[str]:
        """The names of all themes, the current one first."""
        ...

    def show_theme(self, name: str) -> None:
        """Show another theme."""
        ...

    def start_demo(self) -> None:
        """Restart as the demo."""
        ...

    def suspend(self) -> None:
        """Suspend the app to the shell."""
        ...

    async def quit(self) -> None:
        """Close the engine and quit."""
        ...
