import pytest

from roo_tui.context.window.overflow import Overflow, RefusedContent, recognise, refused_content, stated_output_limit
from roo_tui.domain.errors import ModelError

OPENAI = "This model's maximum context length is 8192 tokens. However, your messages resulted in 9000 tokens."
GOOGLE = "The input token count (1200000) exceeds the maximum number of tokens allowed (1048576)."


def error(message: str, status: int = 400, code: str = "", body: str = "") -> ModelError:
    return ModelError(message, status=status, code=code, body=body)


@pytest.mark.parametrize(
    ("message", "tokens", "window"),
    [
        ("prompt is too long: 210000 tokens > 200000 maximum", 210_000, 200_000),
        ("input length and `max_tokens` exceed context limit: 190000 + 20000 > 200000", 210_000, 200_000),
        (OPENAI, 9000, 8192),
        (
            "This model's maximum context length is 4097 tokens, however you requested 5000 tokens (4000 in the "
            "messages, 1000 in the completion).",
            5000,
            4097,
        ),
        (
            "This endpoint's maximum context length is 128000 tokens. However, you requested about 150000 tokens "
            "(140000 of text input, 10000 in the output).",
            150_000,
            128_000,
        ),
        (
            "Please reduce the length of the messages or completion. Current length is 9000 while limit is 8192",
            9000,
            8192,
        ),
        (GOOGLE, 1_200_000, 1_048_576),
        ("This model's maximum prompt length is 131072 but the request contains 537812 tokens.", 537_812, 131_072),
        (
            "Prompt contains 40000 tokens and 0 draft tokens, too large for model with 32768 maximum context length",
            40_000,
            32_768,
        ),
        ("the request exceeds the available context size (8192 tokens), try increasing it", 0, 8192),
        ("This model's maximum context length is 8192 tokens.", 0, 8192),
    ],
)
def test_services_state_the_window_in_their_own_words(message: str, tokens: int, window: int):
    for told in (error(message), error("Error code: 400", body=message)):
        found = recognise(told, our_tokens=window, window=1_000_000)
        assert found is not None
        assert (found.tokens, found.window, found.believed) == (tokens, window, True)


@pytest.mark.parametrize(
    ("message", "prompt"),
    [
        ("prompt is too long: 210000 tokens > 200000 maximum", 210_000),
        ("input length and `max_tokens` exceed context limit: 190000 + 20000 > 200000", 190_000),
        ("maximum context length is 4097 tokens, however you requested 5000 tokens (4000 in the messages)", 0),
        ("This model's maximum context length is 8192 tokens.", 0),
    ],
)
def test_what_the_provider_counted_of_the_prompt_is_told_where_it_says_so(message: str, prompt: int):
    found = recognise(error(message), our_tokens=1_000_000, window=1_000_000)
    assert found is not None and found.prompt_tokens == prompt


@pytest.mark.parametrize(
    "found",
    [
        error("Input is too long for requested model."),
        error("context window exceeded"),
        error("request exceeds the context"),
        error("context is too long"),
        error("too many tokens"),
        error("tokens exceeded", status=422),
        error("Request exceeds the maximum size", status=413, code="request_too_large"),
        error("Requested entity too large", status=413),
        error("Please reduce the length of the messages or completion.", code="context_length_exceeded"),
        error("something", status=0, code="context_length_exceeded"),
        error("something", status=200, code="model_context_window_exceeded"),
        error("prompt is too long: 1 tokens > 0 maximum"),
    ],
)
@pytest.mark.line("B13")
def test_a_bare_too_long_is_believed_from_half_of_the_window(found: ModelError):
    assert recognise(found, our_tokens=50, window=100) == Overflow(0, 0, True)
    assert recognise(found, our_tokens=49, window=100) == Overflow(0, 0, False)


@pytest.mark.parametrize(
    "found",
    [
        error("max_tokens: 100000 > 64000, which is the maximum allowed number of output tokens"),
        error("max_tokens is too large: 100000. This model supports at most 16384 completion tokens"),
        error("messages.3: tool_use ids were found without tool_result blocks"),
        error("Invalid token provided", status=401),
        error("Invalid token provided"),
        error("bad request"),
        error(""),
        error("overloaded", status=529),
        error("context window exceeded", status=500),
        error(OPENAI, status=429),
        error("Request too large for model in organisation on tokens per minute (TPM): Limit 6000", status=413),
        error("rate limit reached", status=413),
    ],
)
@pytest.mark.line("B13")
def test_other_errors_are_not_taken_for_it(found: ModelError):
    assert recognise(found, our_tokens=1_000_000, window=100) is None


@pytest.mark.line("B13")
def test_a_stated_window_is_believed_when_we_count_half_of_it():
    found = error("prompt is too long: 19474 tokens > 10000 maximum")
    assert recognise(found, our_tokens=5000, window=200_000) == Overflow(19_474, 10_000, True, 19_474)
    assert recognise(found, our_tokens=4999, window=200_000) == Overflow(19_474, 10_000, False, 19_474)


TOO_LONG_AN_ANSWER = (
    "max_tokens: 128000 > 64000, which is the maximum allowed number of output tokens for claude-sonnet-5-5"
)


@pytest.mark.parametrize(
    ("message", "most"),
    [
        (TOO_LONG_AN_ANSWER, 64_000),
        ("max_tokens is too large: 40000. This model supports at most 16384 completion tokens", 16_384),
        ("max_tokens: Field required", 0),
        ("prompt is too long: 210000 tokens > 200000 maximum", 0),
    ],
)
def test_the_most_an_answer_may_have_is_read_from_the_error(message: str, most: int):
    assert stated_output_limit(error(message)) == most
    assert stated_output_limit(error("Error code: 400", body=message)) == most
    assert stated_output_limit(error(message, status=529)) == 0


@pytest.mark.parametrize(("tokens", "believed"), [(25_000, True), (5_000, False)])
def test_a_request_with_too_many_bytes_is_believed_far_below_the_window(tokens: int, believed: bool) -> None:
    """As from a proxy that lets no more than 100 kB through, in a conversation without pictures."""
    found = recognise(error("<html>Request Entity Too Large</html>", 413), tokens, 1_000_000)
    assert found == Overflow(0, 0, believed)


DIMENSIONS = "At least one of the image dimensions exceed max allowed size"


@pytest.mark.parametrize(
    ("given", "what", "place", "most_side", "most_base64"),
    [
        (
            error(f"messages.2.content.1.image.source.base64.data: {DIMENSIONS}: 8000 pixels"),
            "pictures",
            (2, 1, None),
            8000,
            0,
        ),
        (
            error(
                f"messages.4.content.0.tool_result.content.1.image.source.base64.data: {DIMENSIONS} for many-image "
                "requests: 2000 pixels"
            ),
            "pictures",
            (4, 0, 1),
            2000,
            0,
        ),
        (
            error(
                "messages.0.content.3.image.source.base64: image exceeds 5 MB maximum: 5600000 bytes > 5242880 bytes"
            ),
            "pictures",
            (0, 3, None),
            0,
            5_242_880,
        ),
        (error("Could not process image"), "pictures", None, 0, 0),
        (error("messages: too much media: 0 document pages + 101 images > 100"), "pictures", None, 0, 0),
        (error("messages.1.content.0.pdf.source.base64.data: The PDF was not valid"), "pictures", (1, 0, None), 0, 0),
        (error("Invalid data", code="image_parse_error"), "pictures", None, 0, 0),
        (error("Request exceeds the maximum size", 413, "request_too_large"), "bytes", None, 0, 0),
        (error("<html>Request Entity Too Large</html>", 413), "bytes", None, 0, 0),
        (error("messages.3.content.12: Invalid `signature` in `thinking` block"), "block", (3, 12, None), 0, 0),
    ],
)
def test_content_that_is_refused_is_recognised(
    given: ModelError, what: str, place: tuple[int, int, int | None] | None, most_side: int, most_base64: int
) -> None:
    found = refused_content(given)
    assert isinstance(found, RefusedContent)
    assert (found.what, found.place, found.most_side, found.most_base64) == (what, place, most_side, most_base64)


@pytest.mark.parametrize(
    "given",
    [
        error("prompt is too long: 210000 tokens > 200000 maximum"),
        error("prompt is too long: 210000 tokens > 200000 maximum; images count, too", 413),
        error("messages.10.content.1.cache_control: at most 4 blocks may have one"),
        error("messages.3: `tool_use` ids were found without `tool_result` blocks immediately after"),
        error("Rate limit reached: 20 images per minute", 429),
        error("The image could not be fetched", 500),
        error("Your credit balance is too low"),
    ],
)
def test_other_errors_are_not_about_a_content(given: ModelError) -> None:
    assert refused_content(given) is None
