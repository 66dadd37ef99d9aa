"""Source code as lines of styled spans, one line at a time.

A line is coloured once, from the lexer's state at the end of the line before, and never again: so
streaming a code fence or showing a long file from anywhere costs only the new lines. Block comments of the C family,
which a lexer reads as one expression over many lines, are handled here.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import PurePath
from typing import Any

from rich.style import Style

from roo_tui.tui.widgets.views.canvas import Canvas, Line, Span, estimate_lines, fold_cells
from roo_tui.tui.widgets.views.palette import Palette

PIECE_LINES = 48
"""Lines that are coloured and drawn at once; keeps one step under a few milliseconds."""
_COLOURED = 1_000
"""Characters a line may have to be coloured."""
_BLOCK_COMMENTS = frozenset(
    """c cpp c++ csharp c# css dart go groovy java javascript js jsx kotlin less objective-c php protobuf rust scala
    scss swift ts tsx typescript""".split()  # noqa: SIM905 - a list of names reads best as words
)


_Tokens = tuple[tuple[str, object], ...]
_State = tuple[str, ...]


class LineLexer:
    """Colours lines in order, keeping the state of a Pygments lexer between them."""

    def __init__(self, language: str) -> None:
        self._language = language.lower()
        self._known = lexer(self._language) is not None
        self._state: _State = ("root",)
        self._comment_end = ""

    def copy(self) -> "LineLexer":
        """Return one in the same state."""
        other = LineLexer(self._language)
        other._state, other._comment_end = self._state, self._comment_end
        return other

    def tokens(self, line: str) -> _Tokens:
        """Return the line (without its end) as (text, token type) pairs; a type is None where nothing is known."""
        if not self._known or len(line) > _COLOURED:
            return ((line, None),)
        found: _Tokens = ()
        at = 0
        if self._comment_end:
            end = line.find(self._comment_end)
            at = len(line) if end < 0 else end + len(self._comment_end)
            found = ((line[:at], _comment()),)
            if end >= 0:
                self._comment_end = ""
        rest = line[at:]
        opening = self._opens_comment(rest)
        code = rest if opening < 0 else rest[:opening]
        tokens, self._state = _lex(self._language, self._state, code)
        return (*found, *tokens) if opening < 0 else (*found, *tokens, (rest[opening:], _comment()))

    def _opens_comment(self, text: str) -> int:
        """Return where a comment begins that continues after this line, -1 if none does."""
        if self._language not in _BLOCK_COMMENTS or self._state != ("root",):
            return -1
        opening = text.rfind("/*")
        if opening < 0 or "*/" in text[opening + 2 :] or text[:opening].count('"') % 2 or "//" in text[:opening]:
            return -1
        self._comment_end = "*/"
        return opening


@lru_cache(maxsize=8_192)
def _lex(language: str, state: _State, line: str) -> tuple[_Tokens, _State]:
    """Return the tokens of a line that begins in a state, and the state after it; the same lines come often."""
    found: list[tuple[str, object]] = []
    known = lexer(language)
    states = _states(known)
    try:
        if states is None:
            found = [(value, kind) for _, kind, value in known.get_tokens_unprocessed(line + "\n")]
            return tuple(found), state
        return _run(known, states, state, line + "\n")
    except Exception:  # a lexer is many small foreign functions: what they cannot read is shown without colours
        return ((line, None),), ("root",)


def _run(known: Any, states: Any, state: _State, text: str) -> tuple[_Tokens, _State]:
    """Run the loop of Pygments' `RegexLexer`, which does not expose its state."""
    found: list[tuple[str, object]] = []
    stack, at = list(state), 0
    rules = states[stack[-1]]
    still = 0
    while at < len(text):
        for match_at, action, new_state in rules:
            match = match_at(text, at)
            if not match:
                continue
            if action is not None:
                if type(action).__name__ == "_TokenType":
                    found.append((match.group(), action))
                else:
                    found += [(value, kind) for _, kind, value in action(known, match) if value]
            still = still + 1 if match.end() == at else 0
            at = match.end()
            if new_state is not None:
                _change(stack, new_state)
                rules = states[stack[-1]]
            break
        else:
            if text[at] == "\n":
                del stack[1:]
                rules = states["root"]
            found.append((text[at], None))
            at += 1
        if still > 50:
            found.append((text[at:], None))
            break
    return tuple(found), tuple(stack)


@lru_cache(maxsize=256)
def _states(lexer: Any) -> Any:
    """Return the rules of a lexer whose state can be kept between lines, None for any other."""
    from pygments.lexer import ExtendedRegexLexer  # type: ignore[import-untyped]

    states = None if isinstance(lexer, ExtendedRegexLexer) else getattr(lexer, "_tokens", None)
    return states if states and "root" in states else None


def _change(stack: list[str], new_state: Any) -> None:
    if isinstance(new_state, tuple):
        for state in new_state:
            if state == "#pop":
                if len(stack) > 1:
                    stack.pop()
            elif state == "#push":
                stack.append(stack[-1])
            else:
                stack.append(state)
    elif isinstance(new_state, int):
        if abs(new_state) >= len(stack):
            del stack[1:]
        else:
            del stack[new_state:]
    elif new_state == "#push":
        stack.append(stack[-1])


@lru_cache(maxsize=256)
def lexer(language: str) -> Any:
    """Return the Pygments lexer of a language name or alias, None if there is none."""
    if not language:
        return None
    from pygments.lexers import get_lexer_by_name  # type: ignore[import-untyped]
    from pygments.util import ClassNotFound  # type: ignore[import-untyped]

    try:
        return get_lexer_by_name(language)
    except ClassNotFound:
        return None


@lru_cache(maxsize=512)
def language_of(path: str) -> str:
    """Return the language a file name says it is in, "" if it does not say."""
    from pygments.lexers import find_lexer_class_for_filename

    found = find_lexer_class_for_filename(PurePath(path).name)
    return found.aliases[0] if found is not None and found.aliases else ""


@lru_cache(maxsize=1)
def _comment() -> object:
    from pygments.token import Comment  # type: ignore[import-untyped]

    return Comment


_STYLES = (
    ("Comment", "comment"),
    ("Literal.String", "string"),
    ("Literal.Number", "number"),
    ("Keyword.Constant", "number"),
    ("Keyword.Type", "type"),
    ("Keyword", "keyword"),
    ("Operator.Word", "keyword"),
    ("Operator", "operator"),
    ("Punctuation", "operator"),
    ("Name.Function", "name"),
    ("Name.Class", "type"),
    ("Name.Decorator", "accent"),
    ("Name.Tag", "keyword"),
    ("Name.Attribute", "type"),
    ("Name.Builtin", "type"),
    ("Name.Exception", "type"),
    ("Name.Namespace", "name"),
    ("Generic.Inserted", "success"),
    ("Generic.Deleted", "error"),
    ("Generic.Heading", "heading"),
    ("Generic.Subheading", "heading"),
)


@lru_cache(maxsize=512)
def _style_name(kind: object) -> str:
    name = str(kind).removeprefix("Token.")
    return next((style for prefix, style in _STYLES if name == prefix or name.startswith(prefix + ".")), "text")


def style_of(kind: object, palette: Palette) -> Style:
    """Return the style of a token type."""
    return palette.text if kind is None else getattr(palette, _style_name(kind))


@dataclass(slots=True, eq=False)
class Code:
    """Lines of one text in one language, coloured from the top down as far as needed."""

    lines: Sequence[str]
    language: str
    _tokens: list[_Tokens] = field(default_factory=list)
    _lexer: LineLexer | None = None

    def spans(self, start: int, stop: int, palette: Palette) -> list[list[Span]]:
        """Return the lines `start:stop` in colour; far below the coloured lines, start afresh."""
        if start - len(self._tokens) > 4 * PIECE_LINES:
            fresh = LineLexer(self.language)
            return [_styled(fresh.tokens(line), palette) for line in self.lines[start:stop]]
        if self._lexer is None:
            self._lexer = LineLexer(self.language)
        for line in self.lines[len(self._tokens) : stop]:
            self._tokens.append(self._lexer.tokens(line))
        return [_styled(tokens, palette) for tokens in self._tokens[start:stop]]

    def beginning(self, line: str) -> "Code":
        """Return a line that may still grow, coloured as the one after these."""
        if self._lexer is None or len(self._tokens) < len(self.lines):
            self._lexer = self._lexer or LineLexer(self.language)
            for known in self.lines[len(self._tokens) :]:
                self._tokens.append(self._lexer.tokens(known))
        return Code([line], self.language, [self._lexer.copy().tokens(line)])


def _styled(tokens: Sequence[tuple[str, object]], palette: Palette) -> list[Span]:
    return [(text.rstrip("\n"), style_of(kind, palette)) for text, kind in tokens if text and text != "\n"]


@dataclass(frozen=True, slots=True)
class CodePiece:
    """Some lines of a code, numbered from `first_number` where that is not 0."""

    code: Code
    start: int
    stop: int
    first_number: int = 0
    number_width: int = 0
    indent: int = 0
    background: str = "code_background"

    def estimate(self, width: int) -> int:
        """Return roughly the lines at that width."""
        room = width - self.indent - self.number_width
        return sum(estimate_lines(line, room) for line in self.code.lines[self.start : self.stop])

    def draw(self, canvas: Canvas) -> list[Line]:
        """Return the lines in colour, broken at the edge."""
        palette = canvas.palette
        lines: list[Line] = []
        background: Style | None = getattr(palette, self.background) if self.background else None
        margin = " " * self.indent
        room = canvas.width - self.indent - self.number_width - (2 if self.number_width else 1)
        for offset, spans in enumerate(self.code.spans(self.start, self.stop, palette)):
            number = str(self.first_number + self.start + offset) if self.number_width else ""
            for part in fold_cells(spans, room):
                if self.number_width:
                    lead: Span = (f"{margin}{number:>{self.number_width}}  ", palette.faint)
                else:
                    lead = (f"{margin} ", palette.faint)
                lines.append(Line([lead, *part], background))
                number = ""
        return lines


def code_pieces(
    lines: Sequence[str], language: str, *, first_number: int = 0, indent: int = 0, background: str = "code_background"
) -> list[CodePiece]:
    """Return the lines of a code as pieces, numbered if `first_number` is not 0."""
    code = Code(lines, language)
    numbers = len(str(first_number + len(lines))) if first_number else 0
    return [
        CodePiece(code, start, min(len(lines), start + PIECE_LINES), first_number, numbers, indent, background)
        for start in range(0, len(lines), PIECE_LINES)
    ]
