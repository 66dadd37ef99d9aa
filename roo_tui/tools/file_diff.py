"""Build the view of a change to a file: a diff with line counts, limited in size for large files."""

from difflib import SequenceMatcher

from roo_tui.domain.views import DiffView

_WHOLE = 100_000
_SHOWN = 200_000
_CONTEXT = 3
_COMPARED = 4_000


def diff_view(path: str, old: str, new: str, *, created: bool = False) -> DiffView:
    """Return the change of a file. Above 100,000 characters, it has only the changed part and 3 lines around it."""
    old_lines, new_lines = lines_of(old), lines_of(new)
    start, end = _common(old_lines, new_lines)
    old_part, new_part = old_lines[start : len(old_lines) - end], new_lines[start : len(new_lines) - end]
    added, removed = _counts(old_part, new_part)
    if max(len(old), len(new)) <= _WHOLE:
        return DiffView(path, old, new, created, 1, added, removed)
    first = max(0, start - _CONTEXT)
    old_last = len(old_lines) - max(0, end - _CONTEXT)
    new_last = len(new_lines) - max(0, end - _CONTEXT)
    return DiffView(
        path,
        _shown(old_lines[first:old_last]),
        _shown(new_lines[first:new_last]),
        created,
        first + 1,
        added,
        removed,
    )


def lines_of(text: str) -> list[str]:
    """Return the lines without their line ends; a final line end does not start another line."""
    lines = text.split("\n")
    if lines[-1] == "":
        lines.pop()
    return [line.removesuffix("\r") for line in lines]


def _common(old: list[str], new: list[str]) -> tuple[int, int]:
    """Return the number of equal lines at the beginning and at the end."""
    shorter = min(len(old), len(new))
    start = 0
    while start < shorter and old[start] == new[start]:
        start += 1
    end = 0
    while end < shorter - start and old[-1 - end] == new[-1 - end]:
        end += 1
    return start, end


def _counts(old: list[str], new: list[str]) -> tuple[int, int]:
    """Return the numbers of added and removed lines; in long texts, every line counts as changed."""
    if max(len(old), len(new)) > _COMPARED:
        return len(new), len(old)
    equal = sum(block.size for block in SequenceMatcher(None, old, new, autojunk=False).get_matching_blocks())
    return len(new) - equal, len(old) - equal


def _shown(lines: list[str]) -> str:
    text = "\n".join(lines)
    return text if len(text) <= _SHOWN else text[:_SHOWN] + "\n…"
