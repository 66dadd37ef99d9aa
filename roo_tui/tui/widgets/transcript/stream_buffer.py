"""Streamed text and output that is not drawn yet, kept until the next frame."""

from dataclasses import replace

from roo_tui.domain.views import AnswerRow, ThinkingRow
from roo_tui.tui.widgets.transcript.row_box import RowBox
from roo_tui.tui.widgets.transcript.row_list import RowList
from roo_tui.tui.widgets.views.markdown_stream import MarkdownStream

_FRAME_CHARACTERS = 30_000
"""Characters of a stream that one drawing takes in; more than arrive in a second of any model."""


class StreamBuffer:
    """The open streams of a row list, and what its running commands print."""

    def __init__(self, row_list: RowList) -> None:
        self._list = row_list
        self._words: dict[str, list[str]] = {}
        self._outputs: dict[str, list[str]] = {}

    @property
    def waits(self) -> bool:
        """Whether there is text that is not drawn yet."""
        return bool(self._outputs) or any(self._words.values())

    def is_open(self, key: str) -> bool:
        """Return whether the text of a row is still streaming."""
        return key in self._words

    def clear(self) -> None:
        """Forget everything: other rows follow."""
        self._words.clear()
        self._outputs.clear()

    def open(self, key: str, body: AnswerRow | ThinkingRow) -> None:
        """Open a row, or continue the one with that key."""
        body = replace(body, open=True)
        box = self._list.open_stream(key, body)
        if isinstance(body, AnswerRow):
            box.stream = MarkdownStream()
            box.forget()
        else:
            box.body = body
        self._words[key] = [body.text] if body.text else []

    def add(self, key: str, text: str) -> None:
        """Add text to an open row."""
        self._words[key].append(text)

    def add_output(self, key: str, text: str) -> None:
        """Add output of a running command."""
        self._outputs.setdefault(key, []).append(text)

    def close(self, key: str) -> None:
        """End a row, which is whole: draw all of it."""
        waiting = self._words.pop(key)
        box = self._list.get(key)
        if box is None:
            return
        self._take_words(box, waiting)
        if box.stream is not None:
            box.stream.close()
            box.follow_stream(self._list.layout.look.width)
            self._list.layout.measure(box)
        elif isinstance(box.body, ThinkingRow):
            box.body = replace(box.body, open=False)
            self._list.refresh(box)

    def take(self) -> None:
        """Give the rows their new text, of each stream as much as one frame can draw."""
        for key, waiting in self._words.items():
            box = self._list.get(key)
            if box is None:
                waiting.clear()
            else:
                self._take_words(box, waiting, _FRAME_CHARACTERS)
        for key, parts in self._outputs.items():
            box = self._list.set_output(key, "".join(parts))
            if box is not None:
                self._list.refresh(box)
        self._outputs.clear()

    def _take_words(self, box: RowBox, waiting: list[str], limit: int | None = None) -> None:
        if not waiting:
            return
        text = "".join(waiting)
        waiting[:] = [text[limit:]] if limit is not None and len(text) > limit else []
        text = text[:limit]
        if box.stream is not None:
            box.stream.add(text)
            box.follow_stream(self._list.layout.look.width)
            self._list.layout.measure(box)
        elif isinstance(box.body, ThinkingRow):
            box.body = replace(box.body, text=box.body.text + text)
            self._list.refresh(box)
