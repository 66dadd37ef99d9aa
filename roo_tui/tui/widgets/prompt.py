"""The prompt: one to ten lines, with message history and completion of commands and files."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Awaitable, Callable, Sequence
from time import monotonic
from typing import TYPE_CHECKING, ClassVar

from textual import events, on, work
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal, Vertical
from textual.message import Message
from textual.reactive import reactive
from textual.timer import Timer
from textual.widgets import Static, TextArea

from roo_tui.plain_text import clean
from roo_tui.tui import strings
from roo_tui.tui.prompt_history import PromptHistory
from roo_tui.tui.widgets.completion import Completion, Suggestion

if TYPE_CHECKING:  # only a name: importing the entries before the first frame would delay it
    from roo_tui.domain.entries import QueuedMessage

FileSource = Callable[[], Awaitable[Sequence[str]]]

_BLINKS_S = 10
_PAUSE_S = 1.0
_COMMAND = re.compile(r"/([\w.-]*\??)\Z")
_FILE = re.compile(r"(?:\A|(?<=\s))@((?:[^\s\\]|\\ )*)\Z")


class PromptArea(TextArea):
    """The text field. Enter sends; the prompt decides what its other keys mean."""

    HELP = strings.PROMPT_HELP
    DEFAULT_CSS = """
    PromptArea { height: auto; min-height: 1; max-height: 10; border: none; padding: 0; background: transparent; }
    PromptArea:focus { border: none; }
    """

    BINDINGS: ClassVar[list[BindingType]] = [Binding("ctrl+underscore", "undo", show=False)]

    class Key(Message):
        """A key that the text field does not handle."""

        def __init__(self, key: str) -> None:
            super().__init__()
            self.key = key

    def __init__(self) -> None:
        super().__init__(
            soft_wrap=True, show_line_numbers=False, highlight_cursor_line=False, placeholder=strings.PROMPT_PLACEHOLDER
        )
        self.completing = False
        self.suggestion = ""
        self.key_at = float("-inf")
        """When the last key was pressed, in seconds of the monotonic clock."""
        self._blinking: Timer | None = None

    def on_mount(self) -> None:
        """Blink only for a while after each key, so that an idle terminal costs nothing."""
        self._blinking = self.set_interval(_BLINKS_S, self._stop_blinking)

    def _stop_blinking(self) -> None:
        self.cursor_blink = False

    async def _on_key(self, event: events.Key) -> None:
        self.key_at = monotonic()
        self.cursor_blink = True
        if self._blinking is not None:
            self._blinking.reset()
        if event.key in ("shift+enter", "ctrl+j", "alt+enter"):
            self._take(event)
            self.insert("\n")
        elif event.key in ("enter", "ctrl+z") or self._is_for_the_prompt(event.key):
            self._take(event)
            self.post_message(self.Key(event.key))

    def _is_for_the_prompt(self, key: str) -> bool:
        if self.completing:
            return key in ("tab", "escape")
        return not self.text and (key == "ctrl+d" or (key == "tab" and bool(self.suggestion)))

    @staticmethod
    def _take(event: events.Key) -> None:
        event.stop()
        event.prevent_default()

    async def _on_paste(self, event: events.Paste) -> None:
        event.text = clean(event.text)

    def action_cursor_up(self, select: bool = False) -> None:
        """Move up; on the first line (or in a list of completions) the prompt decides."""
        if not select and (self.completing or self.navigator.is_first_wrapped_line(self.cursor_location)):
            self.post_message(self.Key("up"))
        else:
            super().action_cursor_up(select)

    def action_cursor_down(self, select: bool = False) -> None:
        """Move down; on the last line (or in a list of completions) the prompt decides."""
        if not select and (self.completing or self.navigator.is_last_wrapped_line(self.cursor_location)):
            self.post_message(self.Key("down"))
        else:
            super().action_cursor_down(select)

    def action_cursor_page_up(self) -> None:
        """Scroll the transcript instead: the prompt is small."""
        self.post_message(Prompt.PageWanted(-1))

    def action_cursor_page_down(self) -> None:
        """Scroll the transcript instead: the prompt is small."""
        self.post_message(Prompt.PageWanted(1))


class Prompt(Vertical):
    """The prompt. It posts the messages to send and knows no receiver."""

    DEFAULT_CSS = """
    Prompt { height: auto; }
    Prompt #prompt-line { height: auto; padding: 0 1; }
    Prompt #prompt-mark { width: 2; height: 1; }
    Prompt #prompt-hint { width: auto; height: 1; padding-left: 2; }
    """

    busy: reactive[bool] = reactive(False)
    editing: reactive[QueuedMessage | None] = reactive(None)
    suggestion: reactive[str] = reactive("")
    """A message that Tab or Enter puts into an empty prompt."""

    class Submitted(Message):
        """A message is to be sent, or to replace the queued message `editing`."""

        def __init__(self, text: str, editing: QueuedMessage | None) -> None:
            super().__init__()
            self.text = text
            self.editing = editing

    class PageWanted(Message):
        """The transcript should scroll by `pages`."""

        def __init__(self, pages: int) -> None:
            super().__init__()
            self.pages = pages

    class CommandWanted(Message):
        """A key in the prompt asks for a command of the table."""

        def __init__(self, command: str) -> None:
            super().__init__()
            self.command = command

    def __init__(self, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self.history = PromptHistory()
        self.commands: Sequence[Suggestion] = ()
        self.file_source: FileSource | None = None
        self._files: Sequence[str] = ()
        self._draft = ""
        self._put_text = ""

    def compose(self) -> ComposeResult:
        yield Completion()
        with Horizontal(id="prompt-line"):
            yield Static("❯ ", id="prompt-mark", markup=False)
            yield PromptArea()
            yield Static(strings.PROMPT_SEND, id="prompt-hint", markup=False)

    @property
    def area(self) -> PromptArea:
        """The text field."""
        return self.query_one(PromptArea)

    @property
    def text(self) -> str:
        """The text in the prompt."""
        return self.area.text

    async def until_nobody_types(self) -> None:
        """Return when no key has been pressed here for a second."""
        while (left_s := self.area.key_at + _PAUSE_S - monotonic()) > 0:
            await asyncio.sleep(left_s)

    def put(self, text: str) -> None:
        """Replace the text; the cursor goes to its end."""
        area = self.area
        self._put_text = clean(text)
        area.load_text(self._put_text)
        area.move_cursor(area.document.end)
        self._offer(())

    def edit(self, item: QueuedMessage) -> None:
        """Edit a queued message; the previous text of the prompt comes back afterwards."""
        if self.editing is None:
            self._draft = self.text
        self.editing = item
        self.put(item.words)
        self.area.focus()

    def less(self) -> bool:
        """Close the completion, else stop editing a queued message. Return whether there was either."""
        if self.query_one(Completion).is_open:
            self._offer(())
            return True
        if self.editing is not None:
            self._end_editing()
            return True
        return False

    def _end_editing(self) -> None:
        self.editing = None
        self.put(self._draft)
        self._draft = ""

    def watch_busy(self) -> None:
        self._hint()

    def watch_editing(self) -> None:
        self._hint()

    def watch_suggestion(self, suggestion: str) -> None:
        if self.is_mounted:
            self.area.suggestion = suggestion
            self.area.placeholder = suggestion or strings.PROMPT_PLACEHOLDER

    def _hint(self) -> None:
        text = strings.PROMPT_SAVE if self.editing else strings.PROMPT_QUEUE if self.busy else strings.PROMPT_SEND
        if self.is_mounted:
            self.query_one("#prompt-hint", Static).update(text)

    @on(PromptArea.Key)
    def _key(self, event: PromptArea.Key) -> None:
        event.stop()
        completion = self.query_one(Completion)
        chosen = completion.chosen
        match event.key:
            case "escape":
                self._offer(())
            case "up" | "down" if chosen:
                completion.move(-1 if event.key == "up" else 1)
            case "up":
                self._recall(self.history.older(self.text))
            case "down":
                self._recall(self.history.newer())
            case "enter" | "tab" if chosen and not (event.key == "enter" and self._typed_whole(chosen)):
                self._take(chosen)
            case "tab":
                self.put(self.suggestion)
            case "enter" if not self.text and self.suggestion:
                self.put(self.suggestion)
            case "enter":
                self._submit()
            case "ctrl+d" | "ctrl+z":
                self.post_message(self.CommandWanted("quit" if event.key == "ctrl+d" else "suspend"))

    def _recall(self, text: str | None) -> None:
        if text is not None and self.editing is None:
            self.put(text)

    def _submit(self) -> None:
        text, editing = self.text, self.editing
        if not text.strip():
            return
        self.history.add(text)
        if editing is not None:
            self._end_editing()
        else:
            self.put("")
        self.post_message(self.Submitted(text, editing))

    # Completion

    def _before_cursor(self) -> str:
        row, column = self.area.cursor_location
        return self.area.document.get_line(row)[:column]

    def _typed_whole(self, suggestion: Suggestion) -> bool:
        return self._before_cursor().endswith(suggestion.insert.strip())

    @on(TextArea.Changed)
    def _changed(self, event: TextArea.Changed) -> None:
        event.stop()
        if self.text == self._put_text:  # not typed, so nothing is offered
            return
        self._put_text = ""
        before = self._before_cursor()
        first_line = self.area.cursor_location[0] == 0
        if first_line and (command := _COMMAND.fullmatch(before)):
            self._offer([one for one in self.commands if _matches(command[1].lower(), one.label)][:50])
        elif (file := _FILE.search(before)) and self.file_source is not None:
            query = file[1].replace("\\ ", " ")
            self._offer_files(query)
        else:
            self.workers.cancel_group(self, "files")
            self._offer(())

    @work(group="files", exclusive=True)
    async def _offer_files(self, query: str) -> None:
        from roo_tui.tui.widgets.completion import best_files

        if (not query or not self._files) and self.file_source is not None:
            self._files = await self.file_source()
        found = await asyncio.to_thread(best_files, query, self._files)
        self._offer([Suggestion("@" + path.replace(" ", "\\ ") + " ", path) for path in found])

    def _offer(self, suggestions: Sequence[Suggestion]) -> None:
        completion = self.query_one(Completion)
        if suggestions or completion.is_open:
            completion.offer(suggestions)
        self.area.completing = bool(suggestions)

    @on(Completion.Taken)
    def _clicked(self, event: Completion.Taken) -> None:
        event.stop()
        self._take(event.suggestion)
        self.area.focus()

    def _take(self, suggestion: Suggestion) -> None:
        before = self._before_cursor()
        typed = _COMMAND.fullmatch(before) or _FILE.search(before)
        if typed is None:
            return
        row, column = self.area.cursor_location
        self._offer(())
        self.area.replace(suggestion.insert, (row, typed.start()), (row, column))


def _matches(typed: str, label: str) -> bool:
    """Return whether the typed characters occur in the label in this order, the first one at its beginning."""
    name = label.removeprefix("/").lower()
    if not typed:
        return True
    if not name.startswith(typed[0]):
        return False
    rest = iter(name)
    return all(character in rest for character in typed)
