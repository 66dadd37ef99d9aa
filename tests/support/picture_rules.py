"""What the Messages API accepts of pictures, restated for tests: the first reason to refuse a request's body."""

import base64
import io
from collections.abc import Iterator, Mapping
from functools import lru_cache
from typing import Any

from PIL import Image

MOST_SIDE = 8_000
MANY = 20
MOST_SIDE_OF_MANY = 2_000
MOST_BASE64 = 5 * 1024 * 1024
MOST_BYTES = 32 * 1024 * 1024


def objection(body: Mapping[str, Any], size: int) -> tuple[int, str] | None:
    """Return the status and message with which the API refuses a body of this size, None if it accepts its pictures."""
    if size > MOST_BYTES:
        return 413, "Request exceeds the maximum size"
    found = list(_pictures(body))
    is_many = len(found) > MANY
    for place, source in found:
        if problem := _problem(source, is_many):
            return 400, problem.format(place=place)
    return None


def _pictures(body: Mapping[str, Any]) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """Yield the place and the source of each picture, those in tool results included."""
    for number, message in enumerate(body.get("messages") or []):
        content = message["content"]
        for index, block in enumerate(content if isinstance(content, list) else []):
            place = f"messages.{number}.content.{index}"
            parts = block.get("content")
            if block["type"] == "image":
                yield f"{place}.image.source.base64", block["source"]
            elif block["type"] == "tool_result" and isinstance(parts, list):
                for at, part in enumerate(parts):
                    if part["type"] == "image":
                        yield f"{place}.tool_result.content.{at}.image.source.base64", part["source"]


def _problem(source: Mapping[str, Any], is_many: bool) -> str:
    data = source["data"]
    if len(data) > MOST_BASE64:
        return f"{{place}}: image exceeds 5 MB maximum: {len(data)} bytes > {MOST_BASE64} bytes"
    kind, side = _looked_at(data)
    if not kind:
        return "Could not process image"
    if kind != source["media_type"]:
        return f"{{place}}.data: Image does not match the provided media type {source['media_type']}"
    if side > (most := MOST_SIDE_OF_MANY if is_many else MOST_SIDE):
        which = " for many-image requests" if is_many else ""
        return f"{{place}}.data: At least one of the image dimensions exceed max allowed size{which}: {most} pixels"
    return ""


@lru_cache(maxsize=100)
def _looked_at(data: str) -> tuple[str, int]:
    """Return the type and the longer side of a picture, "" and 0 if it cannot be decoded."""
    try:
        with Image.open(io.BytesIO(base64.b64decode(data, validate=True))) as picture:
            picture.load()
            return f"image/{str(picture.format).lower()}", max(picture.size)
    except (OSError, ValueError, SyntaxError):
        return "", 0
