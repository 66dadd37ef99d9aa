"""Pictures that enter a conversation through `read_file`: what the model gets, and what it is told."""

import base64
import io
import random

import pytest
from PIL import Image as pillow

from roo_tui.domain.blocks import Image, Text
from roo_tui.domain.views import TextView
from roo_tui.tools.images import MOST_BASE64, MOST_SIDE, ImageRefused, fitted_image
from tests.support.pictures import damaged, noise, picture, saved
from tests.support.tool_bench import Bench


async def shown(bench: Bench, name: str, data: bytes) -> tuple[str, Image, str]:
    """Return the words and the image the model gets of a file, and the detail in its row."""
    bench.write(name, data)
    outcome = await bench.run("read_file", path=name)
    assert isinstance(outcome.for_model, tuple)
    words, image = outcome.for_model
    assert isinstance(words, Text) and isinstance(image, Image)
    assert outcome.view == TextView(words.text)
    return words.text, image, outcome.detail


def opened(image: Image) -> pillow.Image:
    found = pillow.open(io.BytesIO(base64.b64decode(image.data)))
    found.load()
    assert (found.size, f"image/{found.format}".lower()) == ((image.width, image.height), image.media_type)
    return found


@pytest.mark.parametrize("form", ["PNG", "JPEG", "GIF", "WEBP"])
async def test_a_picture_within_the_limits_is_sent_as_it_is(bench: Bench, form: str) -> None:
    data = picture(300, 200, form)
    words, image, detail = await shown(bench, "shot.bin", data)
    assert image == Image(f"image/{form.lower()}", base64.b64encode(data).decode(), 300, 200)
    assert words == f"The image shot.bin (image/{form.lower()}):" and detail == "300×200"


@pytest.mark.parametrize(
    ("data", "was", "became"),
    [
        (picture(1440, 8570), "1440×8570", "336×2000"),
        (picture(3840, 2160, "JPEG"), "3840×2160", "2000×1125"),
        (picture(100, 3000, "WEBP"), "100×3000", "67×2000"),
    ],
    ids=["long page", "4K", "webp"],
)
async def test_a_picture_with_too_many_pixels_is_scaled_and_both_are_told(
    bench: Bench, data: bytes, was: str, became: str
) -> None:
    words, image, detail = await shown(bench, "page.png", data)
    opened(image)
    assert f"scaled from {was} to {became} pixels" in words and detail == f"{was}, scaled to {became}"


async def test_a_picture_of_4_megabytes_is_made_smaller_because_the_limit_counts_base64(bench: Bench) -> None:
    data = noise(1250, 1120)
    assert len(data) < 5_000_000 < len(base64.b64encode(data))
    words, image, detail = await shown(bench, "noise.png", data)
    opened(image)
    assert len(image.data) <= MOST_BASE64 and (image.width, image.height) == (1250, 1120)
    assert "converted to image/jpeg because it was too large" in words and detail == "1250×1120, converted"


@pytest.mark.parametrize("form", ["GIF", "WEBP", "PNG"])
async def test_of_an_animated_picture_the_first_frame_is_sent(bench: Bench, form: str) -> None:
    words, image, detail = await shown(bench, "moving.gif", picture(30, 20, form, frames=3))
    assert getattr(opened(image), "n_frames", 1) == 1
    grey = opened(image).convert("L")
    assert grey.crop((0, 0, 2, 2)).tobytes() < b"\x28" and grey.crop((28, 18, 30, 20)).tobytes() > b"\xc8"
    assert "the first of its 3 frames" in words and detail == "30×20, first of 3 frames"


async def test_a_picture_with_a_palette_is_scaled_without_losing_thin_lines(bench: Bench) -> None:
    lined = pillow.new("P", (4000, 100), 0)
    lined.putpalette([255, 255, 255, 0, 0, 0])
    for left in range(1, 4000, 4):
        lined.paste(1, (left, 0, left + 1, 100))
    _, image, _ = await shown(bench, "lined.png", saved(lined, "PNG"))
    grey = opened(image).convert("L").tobytes()
    assert 100 < min(grey) < max(grey) < 255


async def test_a_transparent_picture_stays_transparent_and_one_lying_on_its_side_is_turned(bench: Bench) -> None:
    _, image, _ = await shown(bench, "a.png", saved(pillow.new("RGBA", (3000, 10), (1, 2, 3, 4)), "PNG"))
    assert opened(image).getchannel("A").getextrema() == (4, 4)
    exif = pillow.Exif()
    exif[0x0112] = 6
    words, image, _ = await shown(bench, "b.jpg", picture(3000, 1000, "JPEG", exif=exif))
    assert opened(image).size == (667, 2000) and "from 1000×3000 to 667×2000" in words


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        (damaged(picture(1280, 720)), "damaged or incomplete"),
        (damaged(noise(100, 100, "JPEG")), "damaged or incomplete"),
        (damaged(noise(100, 100, "WEBP")), "damaged or incomplete"),
        (picture(30, 20)[:-12], "damaged or incomplete"),
        (b"GIF89a", "damaged or incomplete"),
        (picture(30, 20, "BMP"), "a BMP image cannot be read; convert it to PNG first"),
        (picture(30, 20, "TIFF"), "a TIFF image cannot be read; convert it to PNG first"),
        (picture(8000, 7000, "GIF"), "8,000 × 7,000 pixels, and at most 50,000,000 are read"),
    ],
    ids=["png", "jpeg", "webp", "png without an end", "gif without a body", "bmp", "tiff", "56 megapixels"],
)
async def test_a_picture_that_cannot_be_sent_is_an_error_and_no_block(bench: Bench, data: bytes, reason: str) -> None:
    bench.write("bad.png", data)
    outcome = await bench.run("read_file", path="bad.png")
    assert outcome.is_error and isinstance(outcome.for_model, str)
    assert outcome.for_model.startswith("The image bad.png cannot be shown: ") and reason in outcome.for_model


def test_whatever_is_broken_in_a_file_it_is_sent_whole_or_refused() -> None:
    randoms = random.Random(7)
    files = [picture(60, 40, form) for form in ("PNG", "JPEG", "GIF", "WEBP")]
    files += [picture(60, 40, form, frames=2) for form in ("PNG", "GIF", "WEBP")]
    refused = 0
    for number in range(700):
        data = bytearray(files[number % len(files)])
        for _ in range(randoms.choice((1, 3, 20))):
            data[randoms.randrange(12, len(data))] = randoms.randrange(256)
        del data[randoms.randrange(12, len(data) + 1) if number % 3 == 0 else len(data) :]
        try:
            fitted = fitted_image(bytes(data))
        except ImageRefused:
            refused += 1
            continue
        if fitted is not None:
            opened(fitted.image)
            assert max(fitted.image.width, fitted.image.height) <= MOST_SIDE
    assert refused > 200


def test_text_that_begins_like_a_picture_is_text() -> None:
    assert fitted_image(b"BM is short for Bitmap, and this is a note about it.\n") is None
