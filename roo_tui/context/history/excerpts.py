"""Excerpts: the part of a long text that fits a query best."""

import re
from collections.abc import Iterable

from roo_tui.plain_text import one_line
from roo_tui.search_terms import query_terms, spelled

Pattern = re.Pattern[str]

_MOST_PLACES = 400
_BEFORE = 5


def patterns(queries: Iterable[str]) -> list[Pattern]:
    """Return a pattern for each term of the queries; one for a word finds its inflected forms, too."""
    terms = dict.fromkeys(spelled(term) for query in queries for term in query_terms(query))
    return [_pattern(term) for term in terms]


def excerpt(text: str, wanted: Iterable[Pattern], most: int) -> str:
    """Return the stretch of at most `most` characters that holds the most, and the rarest, of what is wanted.

    A short text is returned whole, one without matches from its beginning.
    """
    if len(text) <= most:
        return text
    start = _best_start(text, list(wanted), most)
    end = start + most
    return ("[…] " if start else "") + text[start:end] + (" […]" if end < len(text) else "")


def snippet(text: str, wanted: Iterable[Pattern], most: int) -> str:
    """Return an excerpt as one line."""
    return one_line(excerpt(text, wanted, most - 8), most)


def _best_start(text: str, wanted: list[Pattern], most: int) -> int:
    places = []
    for number, pattern in enumerate(wanted):
        found = [match.start() for _, match in zip(range(_MOST_PLACES), pattern.finditer(text), strict=False)]
        places += [(at, number, 1 / (1 + len(found) / 8)) for at in found]
    places.sort()
    room = most - most // _BEFORE
    best, best_weight = 0, 0.0
    first = 0
    counts = [0] * len(wanted)
    weight = 0.0
    for at, number, value in places:
        counts[number] += 1
        weight += value if counts[number] == 1 else 0.0
        while places[first][0] < at - room:
            _, gone, less = places[first]
            counts[gone] -= 1
            weight -= less if not counts[gone] else 0.0
            first += 1
        if weight > best_weight + 1e-9:
            best, best_weight = places[first][0], weight
    return _line_start(text, max(0, best - most // _BEFORE), best)


def _line_start(text: str, start: int, place: int) -> int:
    """Return the start of the first line that begins between the start and the place, or the start itself."""
    line = text.find("\n", start, place)
    return line + 1 if start and line >= 0 else start


def _pattern(term: str) -> Pattern:
    words = term.split(" ")
    if not term.isascii() and len(words) == 1:
        return re.compile(re.escape(term), re.IGNORECASE)
    stems = [re.escape(word[: max(4, len(word) - 3)]) for word in words]
    return re.compile(r"(?<![^\W_])" + r"[\W_]*".join(stems), re.IGNORECASE)
