"""The size of a picture, read from the first bytes of its base64."""

import base64
import binascii

_HEADER_BYTES = 256 * 1024
_JPEG_SIZES = frozenset(range(0xC0, 0xD0)) - {0xC4, 0xC8, 0xCC}


def image_size(data: str) -> tuple[int, int]:
    """Return width and height in pixels of base64 PNG, JPEG or GIF data; (0, 0) where they cannot be read.

    Only the first 256 kB are looked at, where a JPEG's size may stand behind its metadata.
    """
    try:
        head = base64.b64decode(data[: _HEADER_BYTES // 3 * 4], validate=False)
    except (binascii.Error, ValueError):
        return 0, 0
    if head.startswith(b"\x89PNG\r\n\x1a\n") and len(head) >= 24:
        return int.from_bytes(head[16:20]), int.from_bytes(head[20:24])
    if head[:6] in (b"GIF87a", b"GIF89a") and len(head) >= 10:
        return int.from_bytes(head[6:8], "little"), int.from_bytes(head[8:10], "little")
    return _jpeg_size(head) if head.startswith(b"\xff\xd8") else (0, 0)


def _jpeg_size(head: bytes) -> tuple[int, int]:
    at = 2
    while at + 9 <= len(head) and head[at] == 0xFF:
        kind = head[at + 1]
        if kind in _JPEG_SIZES:
            return int.from_bytes(head[at + 7 : at + 9]), int.from_bytes(head[at + 5 : at + 7])
        # 0xFF fills, and a few segments have no length.
        at += 1 if kind == 0xFF else 2 if 0xD0 <= kind <= 0xD8 else 2 + int.from_bytes(head[at + 2 : at + 4])
    return 0, 0
