"""Turn a failed call into a `ModelError`: what happened, what to do about it, and the provider's message."""

import json
from collections.abc import Mapping
from email.utils import parsedate_to_datetime
from time import time

from roo_tui.domain.errors import ModelError

# The API's transient error types. They also arrive as events in the middle of a stream, under status 200.
_TRANSIENT_TYPES = frozenset({"overloaded_error", "api_error", "rate_limit_error", "timeout_error"})
_TRANSIENT_STATUS = frozenset({408, 409, 429})


def from_exception(error: Exception, *, idle_timeout_s: float) -> ModelError:
    """Translate an exception raised by the SDK, by its HTTP library or while reading a malformed stream."""
    import anthropic
    import httpx2

    match error:
        case ModelError():
            return error
        case anthropic.APIStatusError():
            return from_status(error.status_code, error.body, error.response.headers)
        case anthropic.APITimeoutError() | httpx2.TimeoutException():
            return ModelError(
                f"The provider sent nothing for {idle_timeout_s:g} seconds. Check the connection, then send again.",
                code="timeout",
                body=str(error),
                retryable=True,
            )
        case anthropic.APIConnectionError() | httpx2.TransportError():
            cause = error.__cause__ or error
            if isinstance(cause, httpx2.UnsupportedProtocol):
                return ModelError(
                    "The base URL must begin with http:// or https://. Correct it in the profile, or in --base-url or "
                    "ANTHROPIC_BASE_URL if it comes from there.",
                    code="base_url",
                    body=f"{type(cause).__name__}: {cause}",
                )
            return ModelError(
                f"The connection to the provider failed ({cause}). Check the network and base URL, then send again.",
                code="connection_error",
                body=f"{type(cause).__name__}: {cause}",
                retryable=True,
            )
        case _:
            return ModelError(
                "The provider sent an answer that cannot be read. Send again; if it fails again, check the base URL.",
                code="unreadable_answer",
                body=f"{type(error).__name__}: {error}",
                retryable=True,
            )


def from_status(status: int, body: object, headers: Mapping[str, str]) -> ModelError:
    """Translate a response with an error status; `body` is its parsed JSON, or its text."""
    code, message = _type_and_message(body)
    should_retry = headers.get("x-should-retry")
    transient = status in _TRANSIENT_STATUS or status >= 500
    return ModelError(
        f"The provider refused the request ({f'{status} {code}'.strip()}){_quoted(message)} {_advice(status)}",
        status=status,
        code=code,
        body=_readable(body),
        retryable=transient if should_retry not in ("true", "false") else should_retry == "true",
        retry_after_s=_retry_after(headers),
    )


def from_event(body: object) -> ModelError:
    """Translate an `error` event in the middle of a stream."""
    code, message = _type_and_message(body)
    return ModelError(
        f"The provider ended the answer early{f' ({code})' if code else ''}{_quoted(message)} Send the message again.",
        status=200,
        code=code,
        body=_readable(body),
        retryable=code in _TRANSIENT_TYPES,
    )


def _type_and_message(body: object) -> tuple[str, str]:
    error = body.get("error") if isinstance(body, Mapping) else None
    if not isinstance(error, Mapping):
        return "", ""
    return str(error.get("type") or ""), str(error.get("message") or "")


def _quoted(message: str) -> str:
    return f": {message.rstrip('.')}." if message else "."


def _advice(status: int) -> str:
    match status:
        case 401:
            return "Check the API key."
        case 403:
            return "The API key does not allow this; check its permissions."
        case 404:
            return "Check the model's name and the base URL in the profile."
        case 413:
            return "Condense the conversation, or send less at once."
        case 429:
            return "Wait a moment before the next message."
        case _ if status >= 500 or status in _TRANSIENT_STATUS:
            return "Try again in a moment."
        case _:
            return "The details show its full answer."


def _readable(body: object) -> str:
    if body is None or isinstance(body, str):
        return body or ""
    return json.dumps(body, indent=2, ensure_ascii=False, default=str)


def _retry_after(headers: Mapping[str, str]) -> float | None:
    """Return the wait the provider asks for, in seconds: `retry-after-ms`, or `retry-after` as seconds or a date."""
    for name, unit_s in (("retry-after-ms", 0.001), ("retry-after", 1.0)):
        value = headers.get(name, "")
        try:
            return max(0.0, float(value) * unit_s)
        except ValueError:
            pass
    try:
        return max(0.0, parsedate_to_datetime(headers.get("retry-after", "")).timestamp() - time())
    except ValueError:
        return None
