"""Folded files: outlines of the files the agent has read, which a summary takes along."""

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass

from roo_tui.context.reduction_input import Fold
from roo_tui.prompt_files import render

_AT_ONCE = 8
_LEAST_SPACE = 200


@dataclass(frozen=True, slots=True)
class FoldedFiles:
    """One section per file, in the order asked for; `unreadable` counts the files that could not be read."""

    sections: tuple[str, ...] = ()
    unreadable: int = 0


async def fold(paths: Sequence[str], budget: int, outlines: Fold) -> FoldedFiles:
    """Return sections of the files' outlines that together have at most `budget` characters.

    Files are taken in order, so give the newest first; a few are asked for at a time, and none once the budget is
    used up. The section that does not fit any more is cut after a whole line if there is space for a useful part.

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
    return FoldedFiles(tuple(sections), unreadable)


def outlines_of(
    read: Callable[[str], Awaitable[str]], outline: Callable[[str, str], Awaitable[str]], unreadable: type[Exception]
) -> Fold:
    """Return what `fold` asks: `read` gives a file's text or raises `unreadable`, `outline` its definitions."""

    async def outlines(paths: tuple[str, ...]) -> Sequence[tuple[str, str]]:
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
    """Return the section with as many whole lines as fit, empty where that is too little to be of use."""
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
