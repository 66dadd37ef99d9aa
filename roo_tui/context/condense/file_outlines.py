"""Outlines of the files the agent has read, attached to a summary."""

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass

from roo_tui.context.reduction_input import Fold
from roo_tui.prompt_files import render

_AT_ONCE = 8
_LEAST_SPACE = 200


@dataclass(frozen=True, slots=True)
class FileOutlines:
    """One section per file, in the requested order. `unreadable` counts the files that could not be read."""

    sections: tuple[str, ...] = ()
    unreadable: int = 0


async def fold(paths: Sequence[str], budget: int, outlines: Fold) -> FileOutlines:
    """Return sections with the files' outlines, at most `budget` characters in total.

    Files are taken in the given order, newest first, a few at a time until the budget is used up. The first section
    that does not fit is cut after a whole line if a useful part of it fits.

    Source: Roo Code's folded file context.
    """
    sections: list[str] = []
    unreadable = 0
    unique = list(dict.fromkeys(paths))
    for start in range(0, len(unique), _AT_ONCE):
        if budget < _LEAST_SPACE:
            break
        batch = tuple(unique[start : start + _AT_ONCE])
        found = await outlines(batch)
        unreadable += len(batch) - len(found)
        for path, outline in found:
            section = (
                render("summary_message/file_outline", path=path, outline=outline.rstrip()) if outline.strip() else ""
            )
            if len(section) > budget:
                section = _cut(path, outline.rstrip(), budget)
                budget = len(section)
            if section:
                sections.append(section)
                budget -= len(section)
    return FileOutlines(tuple(sections), unreadable)


def outlines_of(
    read: Callable[[str], Awaitable[str]], outline: Callable[[str, str], Awaitable[str]], unreadable: type[Exception]
) -> Fold:
    """Return the service for `fold`: `read` returns a file's text or raises `unreadable`, `outline` its definitions."""

    async def outlines(paths: tuple[str, ...]) -> Sequence[tuple[str, str]]:
        """Return (path, outline) pairs of the files that can be read."""
        found = []
        for path in paths:
            try:
                text = await read(path)
            except unreadable:
                continue
            found.append((path, await outline(path, text)))
        return found

    return outlines


def _cut(path: str, outline: str, budget: int) -> str:
    """Return the section with as many whole lines as fit, empty if too few fit to be useful."""
    if budget < _LEAST_SPACE:
        return ""
    lines = outline.split("\n")
    cut = render("summary_message/outline_cut")
    left = budget - len(render("summary_message/file_outline", path=path, outline=cut))
    kept = 0
    while kept < len(lines) and len(lines[kept]) + 1 <= left:
        left -= len(lines[kept]) + 1
        kept += 1
    return (
        render("summary_message/file_outline", path=path, outline="\n".join([*lines[:kept], cut])) if kept > 1 else ""
    )
