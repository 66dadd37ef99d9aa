"""Images that a model can read: PNG, JPEG, GIF and WebP, recognised by their first bytes."""

import base64
import struct

from roo_tui.domain.blocks import Image

IMAGE_LIMIT = 5_000_000
"""The largest image that is sent, in bytes (a limit of the Messages API)."""


def image_of(data: bytes) -> Image | None:
    """Return the bytes as an image block, None if they are not an image that a model can read."""
    media_type = _media_type(data)
    if not media_type:
        return None
    width, height = _size(media_type, data)
    return Image(media_type, base64.b64encode(data).decode("ascii"), width, height)


def _media_type(data: bytes) -> str:
    if data.startswith(b"\x89PNG\r\n\x1a\n"):
        return "image/png"
    if data.startswith(b"\xff\xd8\xff"):
        return "image/jpeg"
    if data.startswith((b"GIF87a", b"GIF89a")):
        return "image/gif"
    return "image/webp" if data[:4] == b"RIFF" and data[8:12] == b"WEBP" else ""


def _size(media_type: str, data: bytes) -> tuple[int, int]:
    """Return width and height in pixels, 0 and 0 if they cannot be read."""
    try:
        match media_type:
            case "image/png":
                width, height = struct.unpack(">II", data[16:24])
            case "image/gif":
                width, height = struct.unpack("<HH", data[6:10])
            case "image/jpeg":
                width, height = _jpeg_size(data)
            case _:
                width, height = _webp_size(data)
    except (struct.error, IndexError):
        return 0, 0
    return width, height


def _jpeg_size(data: bytes) -> tuple[int, int]:
    at = 2
    while data[at] == 0xFF:
        marker, length = data[at + 1], struct.unpack(">H", data[at + 2 : at + 4])[0]
        if 0xC0 <= marker <= 0xCF and marker not in (0xC4, 0xC8, 0xCC):
            height, width = struct.unpack(">HH", data[at + 5 : at + 9])
            return width, height
        at += 2 + length
    return 0, 0


def _webp_size(data: bytes) -> tuple[int, int]:
    if len(data) < 30:
        return 0, 0
    match data[12:16]:
        case b"VP8X":
            width = int.from_bytes(data[24:27], "little") + 1
            return width, int.from_bytes(data[27:30], "little") + 1
        case b"VP8L":
            bits = struct.unpack("<I", data[21:25])[0]
            return (bits & 0x3FFF) + 1, (bits >> 14 & 0x3FFF) + 1
        case b"VP8 ":
            width, height = struct.unpack("<HH", data[26:30])
            return width & 0x3FFF, height & 0x3FFF
    return 0, 0
