"""Find the lines that a SEARCH text refers to: exact ones, else ones that differ in white space, else similar ones.

Each step accepts only an unambiguous match: the only one, or the one nearest to the start line.
"""

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Literal

_NUMBERED = re.compile(r"\s*\d+ ?\| ?(.*)", re.DOTALL)
_INDENT = re.compile(r"[ \t]*")

# A similar match needs enough lines to be reliable, and must be near the start line if one was given.
_NEAR_LINES = 3
_REACH = 40
_NEAR_WITH_START = 0.90
_NEAR_ANYWHERE = 0.95

# Limits on the work of comparing: the length of the search text, and the number of windows.
_COMPARED_CHARACTERS = 10_000
_COMPARED_WINDOWS = 4_000


@dataclass(frozen=True, slots=True)
class MatchedLines:
    """The matching lines: `start` up to but not including `end` (0-based). `replace` are the replacement lines."""

    start: int
    end: int
    replace: tuple[str, ...]
    how: Literal["exact", "white space", "similar"] = "exact"
    similarity: float = 1.0


@dataclass(frozen=True, slots=True)
class NoMatch:
    """There is no unambiguous match: `places` are the starts (0-based) of several, or `closest` is the most similar."""

    places: tuple[int, ...] = ()
    closest: MatchedLines | None = None


def find_match(
    lines: Sequence[str], search: Sequence[str], replace: Sequence[str], start_line: int
) -> MatchedLines | NoMatch:
    """Return the lines of a file that match the search lines. `start_line` is 1-based, 0 if not given."""
    found = _find(lines, search, tuple(replace), start_line)
    if isinstance(found, NoMatch) and not found.places:
        bare = _without_numbers(search)
        if bare is not None:
            found = _find(lines, bare, tuple(_without_numbers(replace) or replace), start_line)
    return found


def _find(
    lines: Sequence[str], search: Sequence[str], replace: tuple[str, ...], start_line: int
) -> MatchedLines | NoMatch:
    size = len(search)
    starts = _starts(lines, search)
    if starts:
        start = _unambiguous(starts, start_line)
        return NoMatch(tuple(starts)) if start is None else MatchedLines(start, start + size, replace)
    starts = _starts([_bare(line) for line in lines], [_bare(line) for line in search])
    if starts and any(line.strip() for line in search):
        start = _unambiguous(starts, start_line)
        if start is None:
            return NoMatch(tuple(starts))
        indented = _reindent(lines[start : start + size], search, replace)
        return MatchedLines(start, start + size, indented, "white space")
    return _similar(lines, search, replace, start_line)


def _starts(lines: Sequence[str], search: Sequence[str]) -> list[int]:
    """Return every index at which the search lines begin."""
    size, first = len(search), search[0]
    wanted = list(search)
    return [
        index
        for index in range(len(lines) - size + 1)
        if lines[index] == first and list(lines[index : index + size]) == wanted
    ]


def _unambiguous(starts: Sequence[int], start_line: int) -> int | None:
    """Return the only start, or the one nearest to the start line, None if that is a tie."""
    if len(starts) == 1:
        return starts[0]
    if not start_line:
        return None
    nearest = sorted(starts, key=lambda start: abs(start - (start_line - 1)))
    distances = [abs(start - (start_line - 1)) for start in nearest[:2]]
    return nearest[0] if distances[0] < distances[1] else None


def _bare(line: str) -> str:
    return " ".join(line.split())


def _reindent(found: Sequence[str], search: Sequence[str], replace: tuple[str, ...]) -> tuple[str, ...]:
    """Return the replacement with the search text's indentation changed to the file's."""
    indents = {_indent(wanted): _indent(line) for line, wanted in zip(found, search, strict=True) if wanted.strip()}
    base = next(_indent(line) for line in search if line.strip())
    return tuple(_with_indent(line, indents, base) if line.strip() else line for line in replace)


def _with_indent(line: str, indents: dict[str, str], base: str) -> str:
    indent, rest = _indent(line), line.lstrip(" \t")
    if indent in indents:
        return indents[indent] + rest
    if indent.startswith(base):
        return indents[base] + indent[len(base) :] + rest
    if base.startswith(indent):
        return indents[base][: max(0, len(indents[base]) - (len(base) - len(indent)))] + rest
    return line


def _indent(line: str) -> str:
    match = _INDENT.match(line)
    return match[0] if match else ""


def _without_numbers(lines: Sequence[str]) -> list[str] | None:
    """Return the lines without the line numbers that `read_file` adds, None unless all lines have one."""
    matches = [_NUMBERED.fullmatch(line) for line in lines]
    return [match[1] for match in matches if match] if all(matches) else None


def _similar(
    lines: Sequence[str], search: Sequence[str], replace: tuple[str, ...], start_line: int
) -> MatchedLines | NoMatch:
    """Return the only lines similar enough to the search text, otherwise the most similar ones as `NoMatch`."""
    scores = _scores(lines, search, start_line)
    if not scores:
        return NoMatch()
    size = len(search)
    start, score = max(scores.items(), key=lambda item: (item[1], -item[0]))
    best = MatchedLines(start, start + size, replace, "similar", score)
    least = _NEAR_WITH_START if start_line else _NEAR_ANYWHERE
    is_near = score >= least and size >= _NEAR_LINES
    if is_near and start_line:
        is_near = abs(start - (start_line - 1)) <= _REACH
    rivals = [other for other, rival in scores.items() if rival >= least and abs(other - start) >= size]
    if is_near and rivals:
        return NoMatch(tuple(sorted((start, *rivals))), best)
    return best if is_near else NoMatch(closest=best if score >= 0.3 else None)


def _scores(lines: Sequence[str], search: Sequence[str], start_line: int) -> dict[int, float]:
    """Return the similarity (0 to 1) to the search text of each window of lines, by start, without dissimilar ones."""
    from rapidfuzz import fuzz

    wanted = "\n".join(search)
    if not wanted.strip() or len(wanted) > _COMPARED_CHARACTERS or not lines:
        return {}
    scores: dict[int, float] = {}
    best = 0.0
    for start in _windows(lines, search, start_line):
        window = "\n".join(lines[start : start + len(search)])
        if len(window) > 4 * _COMPARED_CHARACTERS:
            continue
        # Only the best window and its possible rivals matter.
        score = fuzz.ratio(wanted, window, score_cutoff=min(best, 100 * _NEAR_WITH_START)) / 100
        if score:
            scores[start] = score
            best = max(best, 100 * score)
    return scores


def _windows(lines: Sequence[str], search: Sequence[str], start_line: int) -> Iterable[int]:
    """Return the starts to compare: all, or in a long file those near the start line or with most equal lines."""
    last = max(0, len(lines) - len(search))
    if last < _COMPARED_WINDOWS:
        return range(last + 1)
    offsets: defaultdict[str, list[int]] = defaultdict(list)
    for offset, line in enumerate(search):
        if line.strip():
            offsets[line.strip()].append(offset)
    votes = Counter(index - offset for index, line in enumerate(lines) for offset in offsets.get(line.strip(), ()))
    chosen = {start for start, _ in votes.most_common(_COMPARED_WINDOWS)}
    if start_line:
        chosen.update(range(start_line - 1 - _COMPARED_WINDOWS // 2, start_line - 1 + _COMPARED_WINDOWS // 2))
    return sorted(start for start in chosen if 0 <= start <= last)
