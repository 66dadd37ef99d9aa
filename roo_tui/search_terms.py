"""Words of texts and queries as the full-text search needs them.

Scripts without spaces between words are searched by pairs of neighbouring characters, identifiers by their parts as
well, and words such as "the" or "which" only if a query has no others.
"""

import re
from collections.abc import Iterator

_MOST_TERMS = 40
# Han, kana with their marks, and Hangul, whose words carry their particles.
_UNSPACED = (
    "\u1100-\u11ff\u3005-\u3007\u3041-\u3096\u30a1-\u30fa\u30fc-\u30ff\u3131-\u318e\u31f0-\u31ff"
    "\u3400-\u4dbf\u4e00-\u9fff\ua960-\ua97c\uac00-\ud7a3\uf900-\ufaff\uff66-\uff9f\U00020000-\U0003ffff"
)
_RUN = re.compile(f"[{_UNSPACED}]+")
_KANA_ONLY = re.compile("[\u3040-\u309f]+")
_LONGEST_PHRASE = 8
_TERM = re.compile(r'"([^"]+)"|(\w+(?:[-_./:\\]+\w+)*)')
_WORD = re.compile(r"[^\W_]+")
_HUMP = re.compile(r"[a-z\d][A-Z]")
_IDENTIFIER = re.compile(r"[^\W_]*[a-z\d][A-Z][^\W_]*")
_PARTS = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[^\WA-Z_]+")

_STOP_WORDS = """
a about all also am an and any are as at be because been before being both but by can could did do does doing for
from had has have having he her here him his how i if in into is it its just let me might more most must my no not
of off on once only or other our out over own please s shall she should so some such t than that the their them then
there these they this those through to too us was we were what when where which while who whom whose why will with
would you your
aber als am an auf aus bei bin bis da das dass dem den denn der des die dies diese dieser doch du durch ein eine
einem einen einer eines er es für haben hat hatte hatten ich ihr im in ins ist ja kann man mein mich mir mit nach
nicht noch nur ob oder sein sich sie sind so über um und uns unser unsere vom von vor wann war waren warum was
welche welchen welcher welches wenn wer werden weshalb wie wir wird wo womit worden wurde wurden zu zum zur
au aux avec ce ces cette dans de des du elle en est et il je la le les leur mais nous ou où par pas pour qu que quel
quelle quelles quels qui se ses son sont sur un une vous
como con cuál cuando de del dónde el en era es esta este fue la las lo los más para pero por qué que se sin su un
una y
什么 怎么 哪个 哪些 哪里 为什么 为何 如何 我们 你们 他们 这个 那个 是否 可以 的是 了吗
何 どう どの どこ いつ なぜ です ます した
"""
STOP_WORDS = frozenset(_STOP_WORDS.split())
RECENCY = frozenset({"last", "latest", "newest", "recent", "recently"})


def searchable(text: str) -> str:
    """Return the text as an index takes it: unspaced scripts in pairs, and the parts of its identifiers at its end."""
    parts: dict[str, None] = {}
    if _HUMP.search(text):
        parts = dict.fromkeys(" ".join(_PARTS.findall(word)) for word in _IDENTIFIER.findall(text))
    if not text.isascii():
        text = _RUN.sub(lambda run: f" {' '.join([*_pairs(run[0]), run[0][-1]])} ", text)
    return "\n".join([text, *parts]) if parts else text


def query_terms(query: str) -> list[str]:
    """Return what to look for, each once: a word, or the words of a phrase, with unspaced scripts in pairs.

    Stop words count only if there are no other terms.
    """
    found = dict.fromkeys(_terms(query))
    telling = [term for term in found if term not in STOP_WORDS and term not in RECENCY and not _trivial(term)]
    return (telling or list(found))[:_MOST_TERMS]


def asks_for_newest(query: str) -> bool:
    """Return whether a query asks for the newest of what fits, such as "the last failing command"."""
    return not RECENCY.isdisjoint(query.casefold().split())


def spelled(term: str) -> str:
    """Return a term of a query as a text spells it: pairs of unspaced characters joined again."""
    words = term.split(" ")
    if len(words) > 1 and all(_RUN.fullmatch(word) for word in words):
        return words[0] + "".join(word[1:] for word in words[1:])
    return term


def _terms(query: str) -> Iterator[str]:
    for phrase, word in _TERM.findall(query):
        text = phrase or word
        words = [part for piece in _WORD.findall(text) for part in _split(piece)]
        if phrase:
            if words:
                yield " ".join(words).casefold()
            continue
        if 1 < len(words) <= _LONGEST_PHRASE:
            yield " ".join(words).casefold()
        for part in words:
            yield part.casefold()
        for piece in _WORD.findall(text):
            if _HUMP.search(piece):
                parts = _PARTS.findall(piece)
                yield " ".join(parts).casefold()
                yield from (part.casefold() for part in parts)


def _split(piece: str) -> Iterator[str]:
    """Yield the words of a piece of text as the index has them."""
    end = 0
    for run in _RUN.finditer(piece):
        if run.start() > end:
            yield piece[end : run.start()]
        yield from _pairs(run[0]) or [run[0]]
        end = run.end()
    if end < len(piece):
        yield piece[end:]


def _pairs(run: str) -> list[str]:
    return [run[at : at + 2] for at in range(len(run) - 1)]


def _trivial(term: str) -> bool:
    return (len(term) == 1 and term.isascii() and term.isalpha()) or _KANA_ONLY.fullmatch(term) is not None
