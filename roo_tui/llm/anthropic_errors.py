"""Every way a call can fail, as `ModelError`: what happened, what to do, and the provider's own words."""

import json
from collections.abc import Mapping
from email.utils import parsedate_to_datetime
from time import time
from typing import Any

from roo_tui.domain.errors import ModelError

# The API's error types that may pass; they also arrive as events in the middle of a stream, under status 200.
_PASSING_TYPES = frozenset({"overloaded_error", "api_error", "rate_limit_error", "timeout_error"})
_PASSING_STATUS = frozenset({408, 409, 429})


def from_exception(error: Exception, *, idle_timeout_s: float) -> ModelError:
    """Return what an exception of the SDK, of its HTTP library or of a malformed stream means."""
    import anthropic
    import httpx2

    match error:
        case ModelError():
            return error
        case anthropic.APIStatusError():
            return from_status(error.status_code, error.body, error.response.headers)
        case anthropic.APITimeoutError() | httpx2.TimeoutException():
            return ModelError(
                f"The provider was silent for {idle_timeout_s:g} seconds. Check the connection, then send again.",
                code="timeout",
                body=str(error),
                retryable=True,
            )
        case anthropic.APIConnectionError() | httpx2.TransportError():
            cause = error.__cause__ or error
            if isinstance(cause, httpx2.UnsupportedProtocol):
                return ModelError(
                    "The base URL is none: it begins with neither http:// nor https://. Correct it in the profile, or "
                    "where it was given (--base-url, ANTHROPIC_BASE_URL).",
                    code="base_url",
                    body=f"{type(cause).__name__}: {cause}",
                )
            return ModelError(
                f"The connection to the provider failed ({cause}). Check network and base URL, then send again.",
                code="connection_error",
                body=f"{type(cause).__name__}: {cause}",
                retryable=True,
            )
        case _:
            return ModelError(
                "The provider sent something that cannot be read. Send again; if it stays so, check the base URL.",
                code="unreadable_answer",
                body=f"{type(error).__name__}: {error}",
                retryable=True,
            )


def from_status(status: int, body: object, headers: Mapping[str, str]) -> ModelError:
    """Return what a refusal means; `body` is its JSON as read, or its text."""
    code, words = _type_and_message(body)
    told = headers.get("x-should-retry")
    passing = status in _PASSING_STATUS or status >= 500
    return ModelError(
        f"The provider refused with status {status}{_said(code, words)} {_advice(status)}",
        status=status,
        code=code,
        body=_readable(body),
        retryable=passing if told not in ("true", "false") else told == "true",
        retry_after_s=_retry_after(headers),
    )


def from_event(body: object) -> ModelError:
    """Return what an `error` event in the middle of a stream means."""
    code, words = _type_and_message(body)
    return ModelError(
        f"The provider broke the answer off{_said(code, words)} Send the message again.",
        status=200,
        code=code,
        body=_readable(body),
        retryable=code in _PASSING_TYPES,
    )


def _type_and_message(body: object) -> tuple[str, str]:
    error: Any = body.get("error") if isinstance(body, Mapping) else None
    if not isinstance(error, Mapping):
        return "", ""
    return str(error.get("type") or ""), str(error.get("message") or "")


def _said(code: str, words: str) -> str:
    name = f" ({code})" if code else ""
    return f"{name}: {words.rstrip('.')}." if words else f"{name}."


def _advice(status: int) -> str:
    match status:
        case 401:
            return "Check the API key."
        case 403:
            return "The key may not use this; check its permissions."
        case 404:
            return "Check the model's name and the base URL in the profile."
        case 413:
            return "Condense the conversation or leave large contents out."
        case 429:
            return "Wait a moment before the next message."
        case _ if status >= 500 or status in _PASSING_STATUS:
            return "Try again in a moment."
        case _:
            return "The details say what it did not accept."


def _readable(body: object) -> str:
    if body is None or isinstance(body, str):
        return body or ""
    return json.dumps(body, indent=2, ensure_ascii=False, default=str)


def _retry_after(headers: Mapping[str, str]) -> float | None:
    """Return the seconds the provider asks to wait: `retry-after-ms`, or `retry-after` as seconds or as a date."""
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
