"""Pictures of the kinds that a test in a browser produces, as the bytes of their files."""

import io
import random
from typing import Any

from PIL import Image


def picture(width: int, height: int, form: str = "PNG", *, frames: int = 1, **options: Any) -> bytes:
    """Return a picture that compresses well, like a page with much white space; several frames make it animated."""
    first = Image.new("RGB", (width, height), "white")
    first.paste("navy", (0, 0, width // 2, height // 3))
    others = [first.rotate(90 * number) for number in range(1, frames)]
    return saved(first, form, **({"save_all": True, "append_images": others} if others else {}), **options)


def noise(width: int, height: int, form: str = "PNG", **options: Any) -> bytes:
    """Return a picture that does not compress: a PNG of it has about 3 bytes a pixel."""
    data = random.Random(width).randbytes(3 * width * height)
    return saved(Image.frombytes("RGB", (width, height), data), form, **options)


def saved(image: Image.Image, form: str, **options: Any) -> bytes:
    target = io.BytesIO()
    image.save(target, form, **options)
    return target.getvalue()


def damaged(data: bytes) -> bytes:
    """Return the picture without its second half, as an interrupted download leaves it."""
    return data[: len(data) // 2]
