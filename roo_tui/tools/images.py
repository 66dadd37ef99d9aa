"""Images that a model can read: PNG, JPEG, GIF and WebP, recognised by their first bytes and made to fit its limits.

An image that a provider refuses would fail every later request of its conversation. So each is decoded once before it
enters: a damaged one never does, and one with too many pixels, too many bytes or several frames is converted.
"""

import base64
import io
import struct
import zlib
from dataclasses import dataclass
from typing import TYPE_CHECKING

from roo_tui.domain.blocks import Image

if TYPE_CHECKING:
    from PIL.Image import Image as Picture

MOST_SIDE = 2_000
"""The most pixels on a side: the Messages API accepts no more once a request has over 20 images, and itself scales
larger images down."""

MOST_BASE64 = 5_000_000
"""The most characters of base64 data that an image may have (a limit of the Messages API)."""

MOST_PIXELS = 50_000_000
"""The most pixels that are decoded; more would take hundreds of megabytes of memory."""

_FORMATS = {"image/png": "PNG", "image/jpeg": "JPEG", "image/gif": "GIF", "image/webp": "WEBP"}
_JPEG_QUALITIES = (85, 60)
# The first bytes of image types that no model reads.
_UNREADABLE = (
    (0, b"BM", "BMP"),
    (0, b"II*\0", "TIFF"),
    (0, b"MM\0*", "TIFF"),
    (0, b"\0\0\1\0", "ICO"),
    (0, b"8BPS", "PSD"),
    (4, b"ftypavif", "AVIF"),
    (4, b"ftypheic", "HEIC"),
    (4, b"ftypmif1", "HEIF"),
)


class ImageRefused(Exception):
    """An image cannot be sent. The text says why, as the end of a sentence about the file."""


@dataclass(frozen=True, slots=True)
class FittedImage:
    """An image as it may be sent, with the size, type and frames of the file it was made from."""

    image: Image
    width: int
    height: int
    media_type: str
    frames: int = 1

    @property
    def is_scaled(self) -> bool:
        """Return whether it has fewer pixels than the file."""
        return (self.image.width, self.image.height) != (self.width, self.height)

    @property
    def is_converted(self) -> bool:
        """Return whether it has another type than the file."""
        return self.image.media_type != self.media_type


def fitted_image(data: bytes) -> FittedImage | None:
    """Return the bytes as an image that every provider accepts, None if they are no image.

    Decodes the image, so call it in a thread.

    Raises:
        ImageRefused: the image is damaged, has too many pixels, or is of a type that no model reads.
    """
    media_type = _media_type(data)
    if not media_type:
        kind = next((kind for at, start, kind in _UNREADABLE if data[at : at + len(start)] == start), "")
        if kind and b"\0" in data[:1_000]:
            raise ImageRefused(f"a {kind} image cannot be read; convert it to PNG first")
        return None
    width, height = _size(media_type, data)
    if width * height > MOST_PIXELS:
        raise ImageRefused(f"it has {width:,} × {height:,} pixels, and at most {MOST_PIXELS:,} are read; scale it down")
    from PIL import Image as pillow
    from PIL import WebPImagePlugin as _webp  # noqa: F401 - registers WebP without loading every other format

    # Pillow raises whatever its decoders meet in a damaged file.
    try:
        if media_type == "image/png":
            with pillow.open(io.BytesIO(data), formats=("PNG",)) as picture:
                picture.verify()
        with pillow.open(io.BytesIO(data), formats=(_FORMATS[media_type],)) as picture:
            return _fitted(picture, data, media_type)
    except (
        OSError,
        SyntaxError,
        ValueError,
        EOFError,
        LookupError,
        TypeError,
        struct.error,
        zlib.error,
        pillow.DecompressionBombError,
    ) as error:
        raise ImageRefused("the image is damaged or incomplete") from error


def _fitted(picture: "Picture", data: bytes, media_type: str) -> FittedImage:
    from PIL import ImageOps

    width, height = picture.size
    frames = 1 if media_type == "image/jpeg" else getattr(picture, "n_frames", 1)
    picture.seek(0)
    size = 4 * -(-len(data) // 3)
    if frames == 1 and max(width, height) <= MOST_SIDE and size <= MOST_BASE64:
        picture.load()
        return FittedImage(_image(media_type, data, width, height), width, height, media_type)
    # Scales while it decodes where the format can do that. The turn comes later: both sides have the same limit.
    scaled: Picture = _plain(picture) if picture.mode in ("1", "P") else picture
    scaled.thumbnail((MOST_SIDE, MOST_SIDE))
    turned = ImageOps.exif_transpose(scaled)
    if turned.size != scaled.size:
        width, height = height, width
    return FittedImage(_encoded(turned, media_type), width, height, media_type, frames)


def _encoded(picture: "Picture", media_type: str) -> Image:
    """Return the picture as PNG, or as JPEG if it was one or is too large otherwise."""
    if media_type != "image/jpeg":
        data = _saved(_plain(picture), "PNG")
        if 4 * -(-len(data) // 3) <= MOST_BASE64:
            return _image("image/png", data, *picture.size)
    data = b""
    for quality in _JPEG_QUALITIES:
        data = _saved(_opaque(picture), "JPEG", quality)
        if 4 * -(-len(data) // 3) <= MOST_BASE64:
            break
    return _image("image/jpeg", data, *picture.size)


def _plain(picture: "Picture") -> "Picture":
    """Return the picture in full colours, transparent where it was."""
    return picture.convert("RGBA" if picture.has_transparency_data else "RGB")


def _opaque(picture: "Picture") -> "Picture":
    """Return the picture on white, since JPEG has no transparency."""
    from PIL import Image as pillow

    if not picture.has_transparency_data:
        return picture.convert("RGB")
    picture = picture.convert("RGBA")
    white = pillow.new("RGBA", picture.size, "white")
    return pillow.alpha_composite(white, picture).convert("RGB")


def _saved(picture: "Picture", form: str, quality: int = 0) -> bytes:
    target = io.BytesIO()
    picture.save(target, form, **({"quality": quality} if quality else {}))
    return target.getvalue()


def _image(media_type: str, data: bytes, width: int, height: int) -> Image:
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
