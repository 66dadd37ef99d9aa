"""Prepare text for the user: make foreign text safe for a terminal, and put counts before nouns.

Text of models, files and commands may contain anything. It is stored and sent unchanged; only what is shown or logged
is cleaned here.
"""

import re

# String sequences (OSC, DCS, SOS, PM, APC) end with BEL or ST. One without an end takes the rest of its line, not the
# rest of the text. The bodies exclude every start of a sequence, so a text full of starts is scanned in linear time.
_DROPPED = re.compile(
    "(?:\x1b\\]|\x9d)[^\x07\x1b\x80-\x9f\r\n]*+(?:\x07|\x1b\\\\|\x9c)?"
    "|(?:\x1b[PX^_]|[\x90\x98\x9e\x9f])(?:[^\x1b\x80-\x9f]*+(?:\x1b\\\\|\x9c)|[^\x1b\x80-\x9f\r\n]*+)"
    "|(?:\x1b\\[|\x9b)[0-?]*+[ -/]*+[@-~]?"
    "|\x1b[ -/]*+[0-~]?"
    "|[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]"
)
_SUSPECT = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069\ud800-\udfff]")
_RETURN = re.compile("\r\n?")
_SURROGATE = re.compile("[\ud800-\udfff]")
_BLANKS = re.compile(r"\s+")


def clean(text: str) -> str:
    r"""Return the text without anything that could control a terminal.

    Removes escape sequences (even unfinished ones), C0 and C1 controls except `\n` and `\t`, DEL, bidirectional
    overrides and isolates. CRLF and a lone CR become `\n`, lone surrogates become U+FFFD. Takes up to 100 ms per
    megabyte.
    """
    if not _SUSPECT.search(text):
        return text
    text = _DROPPED.sub("", text)
    if "\r" in text:
        text = _RETURN.sub("\n", text)
    return well_formed(text)


def well_formed(text: str) -> str:
    """Return the text with lone surrogates replaced by U+FFFD, so that it can be encoded as UTF-8."""
    return text if text.isascii() else _SURROGATE.sub("\ufffd", text)


def one_line(text: str, limit: int = 200) -> str:
    """Return the beginning of the text, clean, as one line of at most `limit` characters; `…` ends a cut line."""
    beginning = text.lstrip()[: 20 * limit]
    line = _BLANKS.sub(" ", clean(beginning)).strip()
    if len(line) > limit:
        return line[: max(0, limit - 1)].rstrip() + "…"
    return line


def plural(count: int, one: str, several: str = "") -> str:
    """Return a count with its noun (`1 file`, `1,204 files`); `several` is the plural if it is not `one` and an s."""
    return f"{count:,} {one if count == 1 else several or one + 's'}"
