import hashlib
import lzma
import subprocess
import sys
from base64 import b64encode
from importlib.resources import files

import pytest

from roo_tui.context.window.tokens import Calibration, TokenCounter, context_tokens, image_size
from roo_tui.domain.blocks import Block, Image, Message, Opaque, Text, Thinking, ToolResult, ToolUse
from roo_tui.domain.requests import ModelInfo, ToolSpec
from roo_tui.domain.usage import Usage

PNG = b64encode(b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR" + (1500).to_bytes(4) + (750).to_bytes(4)).decode()
GIF = b64encode(b"GIF89a" + (30).to_bytes(2, "little") + (25).to_bytes(2, "little")).decode()
JPEG = b64encode(
    b"\xff\xd8\xff\xe0\x00\x04ab\xff\xff\xc0\x00\x11\x08" + (60).to_bytes(2) + (50).to_bytes(2) + b"\x03"
).decode()


@pytest.fixture(scope="module")
def counter() -> TokenCounter:
    return TokenCounter()


def test_the_shipped_vocabulary_is_o200k_base_with_its_licence():
    data = files("roo_tui").joinpath("data")
    ranks = lzma.decompress(data.joinpath("o200k_base.tiktoken.xz").read_bytes())
    assert hashlib.sha256(ranks).hexdigest() == "446a9538cb6c348e3516120d7c08b09f57c36495e2acfffe59a5bf8b0cfb1a2d"
    assert "MIT License" in data.joinpath("NOTICE").read_text()


@pytest.mark.parametrize(
    ("text", "tokens"),
    [("", 0), ("hello world", 2), ("tiktoken is great!", 6), ("<|endoftext|>", 7), ("お誕生日おめでとう", 8)],
)
def test_texts_count_as_in_o200k_base(counter: TokenCounter, text: str, tokens: int):
    assert counter.count_text(text) == tokens


def test_any_text_can_be_counted(counter: TokenCounter):
    assert counter.count_text("\ud800") > 0
    assert counter.count_text(" " * 1_200_000) > 0


def test_a_text_counted_before_gives_the_same_again(counter: TokenCounter):
    assert (
        counter.count_text("some words") == counter.count_text("some words") == TokenCounter().count_text("some words")
    )


def test_every_kind_of_block_is_counted(counter: TokenCounter):
    text = counter.count_text
    assert counter.count_block(Text("hello world")) == 2
    assert counter.count_block(Thinking("hello world", "signature")) == 2
    assert counter.count_block(ToolUse("id", "read", {"a": "é"})) == text("read") + text('{"a":"é"}')
    assert counter.count_block(ToolResult("id", "hello world")) == 2
    assert counter.count_block(ToolResult("id", (Text("hello world"), Image("image/gif", GIF)))) == 3
    assert counter.count_block(Opaque("p", "m", {"type": "x"})) == text('{"type":"x"}')
    assert counter.count_block(Opaque("p", "m", {"source": {"type": "base64", "data": "A" * 9000}})) == 300


@pytest.mark.parametrize(
    ("image", "tokens"),
    [
        (Image("image/png", PNG), 1500),
        (Image("image/png", PNG, 100, 75), 10),
        (Image("image/gif", GIF), 1),
        (Image("image/jpeg", JPEG), 4),
        (Image("image/webp", "UklGRg=="), 300),
        (Image("image/png", "no base64 at all!"), 300),
    ],
)
def test_an_image_counts_by_its_size(counter: TokenCounter, image: Image, tokens: int):
    assert counter.count_block(image) == tokens


@pytest.mark.parametrize(("data", "size"), [(PNG, (1500, 750)), (GIF, (30, 25)), (JPEG, (50, 60)), (JPEG[:12], (0, 0))])
def test_image_sizes_are_read_from_their_headers(data: str, size: tuple[int, int]):
    assert image_size(data) == size


def test_a_request_is_the_sum_of_system_prompt_tools_and_messages(counter: TokenCounter):
    blocks: tuple[Block, ...] = (Text("hello world"), Text("hello"))
    tool = ToolSpec("read", "Read a file.", {"type": "object"})
    tools = counter.count_request((), (tool,))
    assert tools == sum(counter.count_text(text) for text in ("read", "Read a file.", '{"type":"object"}'))
    assert counter.count_messages([Message("user", blocks)]) == counter.count_blocks(blocks) == 3
    assert counter.count_request(("hello", "world"), (tool,), [Message("user", blocks)]) == tools + 3 + 2


def test_nothing_is_loaded_before_the_first_count():
    code = "import roo_tui.context.window.tokens, sys; print('tiktoken' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "False"


MODEL = ModelInfo("m", "p", token_factor=1.5)


def test_a_ratio_starts_at_the_models_factor_and_follows_what_is_reported():
    calibration = Calibration()
    assert calibration.ratio(MODEL) == 1.5
    calibration.learn(MODEL, raw=1000, reported=1200)
    assert calibration.ratio(MODEL) == pytest.approx(1.2)
    calibration.learn(MODEL, raw=1000, reported=1300)
    assert calibration.ratio(MODEL) == pytest.approx(1.23)
    assert calibration.ratio(ModelInfo("other", "p", token_factor=1.0)) == 1.0


def test_reports_that_make_no_sense_teach_little():
    calibration = Calibration()
    calibration.learn(MODEL, raw=10, reported=9000)
    calibration.learn(MODEL, raw=1000, reported=0)
    assert calibration.ratio(MODEL) == 1.5
    calibration.learn(MODEL, raw=1000, reported=900_000)
    assert calibration.ratio(MODEL) == 4.0


def test_what_was_learnt_can_be_stored():
    calibration = Calibration()
    calibration.learn(MODEL, raw=1000, reported=1200)
    assert Calibration.from_json(calibration.to_json()).ratio(MODEL) == pytest.approx(1.2)


@pytest.mark.parametrize("data", [None, [], {"m": "x"}, {"m": float("nan")}, {3: 1.0}])
def test_stored_nonsense_is_left_out(data: object):
    assert Calibration.from_json(data).ratio(MODEL) == 1.5


def test_context_tokens_are_the_reported_ones_and_our_count_of_the_rest():
    usage = Usage(input_tokens=10, cache_read_tokens=100, cache_write_tokens=5, output_tokens=20)
    assert context_tokens(usage, 11, 1.5) == 135 + 17
    assert context_tokens(None, 100, 1.2) == 120
