"""Text files: detect encoding, byte order mark and line endings when reading, and keep them when writing."""

import codecs
import hashlib
from dataclasses import dataclass
from typing import Literal

_SNIFFED = 8192

Encoding = Literal["utf-8", "utf-16", "windows-1252"]
LineEnds = Literal["\n", "\r\n", "mixed"]


@dataclass(frozen=True, slots=True)
class TextFile:
    """A file's text, exactly as stored but without a byte order mark.

    `line_ends` is `\\r\\n` only if every line ends so. `digest` is the SHA-256 of the bytes, `mode` the permission
    bits. Only UTF-8 can be written back without loss; other encodings are decoded for reading only.
    """

    text: str
    digest: str
    line_ends: LineEnds = "\n"
    has_bom: bool = False
    encoding: Encoding = "utf-8"
    mode: int = 0o644

    @property
    def editable(self) -> bool:
        """Whether the text can be changed and written back without loss."""
        return self.encoding == "utf-8"

    def fit(self, text: str) -> str:
        """Return the text with this file's line ends and byte order mark."""
        text = text.removeprefix("\ufeff")
        if self.line_ends == "\r\n":
            text = text.replace("\r\n", "\n").replace("\n", "\r\n")
        return "\ufeff" + text if self.has_bom else text


def is_binary(data: bytes) -> bool:
    """Say whether bytes are binary: a NUL near the beginning and no UTF-16 byte order mark (as git decides)."""
    return b"\0" in data[:_SNIFFED] and not data.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE))


def decode(data: bytes, mode: int = 0o644) -> TextFile:
    """Return the bytes as text; call `is_binary` first. If not UTF-8, they are decoded as UTF-16 or Windows-1252."""
    text, encoding, has_bom = _decode(data)
    return TextFile(text, digest(data), line_ends_of(text), has_bom, encoding, mode)


def digest(data: bytes) -> str:
    """Return the SHA-256 of bytes, in hexadecimal."""
    return hashlib.sha256(data).hexdigest()


def line_ends_of(text: str) -> LineEnds:
    """Return the kind of line ends in the text, `\\n` if there are none."""
    returns = text.count("\r\n")
    if not returns:
        return "\n"
    return "\r\n" if returns == text.count("\n") else "mixed"


def _decode(data: bytes) -> tuple[str, Encoding, bool]:
    if data.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        return data.decode("utf-16", errors="replace"), "utf-16", True
    has_bom = data.startswith(codecs.BOM_UTF8)
    try:
        return data.decode("utf-8-sig"), "utf-8", has_bom
    except UnicodeDecodeError:
        return data.decode("cp1252", errors="replace"), "windows-1252", False
