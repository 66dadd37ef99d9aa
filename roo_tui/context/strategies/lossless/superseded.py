"""Find results that a later call superseded, from what the calls did and never from the text of results.

read a.py 1-80   … read a.py 1-200     superseded: the later read covers its range
read a.py        … write a.py          superseded: the whole file was written
read a.py        … edit a.py           not superseded: an edit shows only part of the file
list src         … list src            superseded: the same call again, whatever its result
"""

import json
import posixpath
from collections.abc import Sequence

from roo_tui.context.strategies.pieces import Piece, PieceLocation
from roo_tui.domain.entries import CallFacts


class OutOfDate:
    """Outdated pieces, each with the newer piece that has the present state: `reads`, and `questions` asked again."""

    def __init__(self, pieces: Sequence[Piece]) -> None:
        self.reads: dict[PieceLocation, PieceLocation] = {}
        self.questions: dict[PieceLocation, PieceLocation] = {}
        whole_inputs = _written_contents(pieces)
        covered: dict[str, list[tuple[tuple[int, int] | None, PieceLocation]]] = {}
        asked: dict[str, PieceLocation] = {}
        for piece in reversed(pieces):
            if piece.record is None or piece.is_error:
                continue
            facts = piece.record.facts
            if facts.kind in ("list", "search") and piece.call is not None and not piece.record.synthetic:
                question = json.dumps([piece.call.name, piece.call.input], sort_keys=True, default=str)
                if question in asked:
                    self.questions[piece.place] = asked[question]
                else:
                    asked[question] = piece.place
            path = posixpath.normpath(facts.path) if facts.path else ""
            if not path or facts.kind not in ("read", "write"):
                continue
            later = covered.setdefault(path, [])
            if facts.kind == "read":
                newer = next((place for lines, place in later if _covers(lines, facts)), None)
                if newer is not None:
                    self.reads[piece.place] = newer
            if facts.full_content and not piece.record.synthetic:
                source = piece.place if facts.kind == "read" else whole_inputs.get(piece.record.call_id)
                if source is not None:
                    later.append((facts.lines, source))


def _written_contents(pieces: Sequence[Piece]) -> dict[str, PieceLocation]:
    """Return the longest string of each call's input, by call id; for a write call, that is what it wrote."""
    longest: dict[str, Piece] = {}
    for piece in pieces:
        if piece.call is not None and piece.place.part == "input":
            known = longest.get(piece.call.id)
            if known is None or len(piece.text) > len(known.text):
                longest[piece.call.id] = piece
    return {call_id: piece.place for call_id, piece in longest.items()}


def _covers(later: tuple[int, int] | None, facts: CallFacts) -> bool:
    """Return whether the lines of a later read (None: the whole file) include those of an earlier one."""
    if later is None:
        return True
    return facts.lines is not None and later[0] <= facts.lines[0] and facts.lines[1] <= later[1]
