"""The completion list, open while a command or a file is typed in the prompt."""

from collections.abc import Sequence
from dataclasses import dataclass

from textual.content import Content
from textual.message import Message
from textual.widgets import OptionList
from textual.widgets.option_list import Option

from roo_tui.plain_text import one_line


@dataclass(frozen=True, slots=True)
class Suggestion:
    """`insert` replaces what was typed; `label` and `help` are shown."""

    insert: str
    label: str
    help: str = ""


class Completion(OptionList, can_focus=False):
    """A list controlled by the prompt; a click takes an item."""

    DEFAULT_CSS = """
    Completion {
        height: auto;
        max-height: 8;
        display: none;
        border: none;
        padding: 0 1;
        text-wrap: nowrap;
        text-overflow: ellipsis;
    }
    Completion.-open { display: block; }
    """

    class Taken(Message):
        """A suggestion was clicked."""

        def __init__(self, suggestion: Suggestion) -> None:
            super().__init__()
            self.suggestion = suggestion

    def __init__(self) -> None:
        super().__init__(markup=False)
        self._suggestions: Sequence[Suggestion] = ()

    @property
    def is_open(self) -> bool:
        """Whether the list is open."""
        return self.has_class("-open")

    @property
    def chosen(self) -> Suggestion | None:
        """The highlighted suggestion."""
        return self._suggestions[self.highlighted] if self.is_open and self.highlighted is not None else None

    def offer(self, suggestions: Sequence[Suggestion]) -> None:
        """Show these; nothing closes the list."""
        self._suggestions = suggestions
        self.set_class(bool(suggestions), "-open")
        self.clear_options()
        if not suggestions:
            return
        column = min(28, max(len(one.label) for one in suggestions)) + 2
        self.add_options(
            Option(
                Content.assemble(
                    f"{one_line(one.label, 300):<{column}}", (one_line(one.help, 200), "$foreground-muted")
                )
            )
            for one in suggestions
        )
        self.highlighted = 0

    def move(self, step: int) -> None:
        """Highlight the next or the previous suggestion; wraps around."""
        if self.highlighted is not None:
            self.highlighted = (self.highlighted + step) % len(self._suggestions)

    def on_option_list_option_selected(self, event: OptionList.OptionSelected) -> None:
        event.stop()
        self.post_message(self.Taken(self._suggestions[event.option_index]))


_LEAST_SCORE = 55


def best_files(query: str, files: Sequence[str], limit: int = 8) -> list[str]:
    """Return the best matches, best first: names that begin with the query, names and then paths that hold it, and
    where these are few, paths that resemble it. An empty query gives the first files. Takes 30 ms for 50,000 paths."""
    if not query:
        return list(files[:limit])
    wanted = query.lower()
    found = sorted((rank, len(path), path) for path in files if (rank := _rank(wanted, path)) is not None)[:limit]
    best = [path for _, _, path in found]
    if len(best) < limit:
        from rapidfuzz import fuzz, process

        similar = process.extract(
            wanted, files, scorer=fuzz.WRatio, processor=str.lower, limit=2 * limit, score_cutoff=_LEAST_SCORE
        )
        best += [path for path, _, _ in similar if path not in best]
    return best[:limit]


def _rank(wanted: str, path: str) -> int | None:
    lower = path.lower()
    if wanted not in lower:
        return None
    name = lower.rstrip("/").rpartition("/")[2]
    if name.startswith(wanted):
        return 0
    return 1 if wanted in name else 2
