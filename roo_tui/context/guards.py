"""Guards: keep automatic condenses from repeating without effect. They never block the sliding window."""

import re
import time
from collections import deque
from collections.abc import Callable, Sequence

from roo_tui.context.reduction_input import ReductionInput
from roo_tui.context.window.policy import decide
from roo_tui.context.window.tokens import TokenCounter
from roo_tui.domain.entries import AssistantMessage, Entry, UserMessage
from roo_tui.domain.ids import EntryId
from roo_tui.domain.markers import Condense, CondenseFailed, Marker, Toggle

MOST_ATTEMPTS = 3
WITHIN_S = 60.0
_NEW_CONTENT_SHARE = 10
_FIGURES = re.compile(r"[\d,]+")


class Guards:
    """Remembers one task's automatic condenses. `clock` returns monotonic seconds.

    Objections that follow from the log (a condense, its failure or an undo after the newest message) survive a restart.
    """

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._attempts: deque[float] = deque(maxlen=MOST_ATTEMPTS)
        self._content: EntryId | None = None
        self._last_notice = ""

    def objection(self, given: ReductionInput, counter: TokenCounter) -> str:
        """Return why no automatic condense may run now, as a sentence for the user; empty if one may.

        Counts the system prompt and the tools, so call it in a thread.
        """
        limits = given.limits
        over = given.trigger == "forced" or decide(given.context_tokens, limits) == "over"
        limit = limits.allowed_tokens if over else limits.trigger_tokens
        overhead = round(given.ratio * counter.count_request(given.system, given.tools))
        if overhead >= limit:
            return overhead_objection(overhead, limit, limits.window)
        if _newest_content(given.path) == self._content or _is_waiting(given.path):
            return "There are no new messages since the last condense or attempt, so another one would not help."
        if _is_circling(given):
            return (
                f"The last {MOST_ATTEMPTS} automatic condenses had almost no new messages between them. Condense with "
                "instructions, rewind, or raise the threshold."
            )
        if len(self._attempts) == MOST_ATTEMPTS and self._clock() - self._attempts[0] < WITHIN_S:
            return (
                f"{MOST_ATTEMPTS} automatic condenses in {WITHIN_S:.0f} seconds did not bring the context below the "
                "trigger. Condense with instructions, rewind, or raise the threshold."
            )
        return ""

    def attempted(self, path: Sequence[Entry]) -> None:
        """Record that a model was asked to condense this path."""
        self._attempts.append(self._clock())
        self.wait_for_new_content(path)

    def succeeded(self) -> None:
        """Forget the attempts because the context is below the trigger again."""
        self._attempts.clear()
        self._last_notice = ""

    def wait_for_new_content(self, path: Sequence[Entry]) -> None:
        """Block automatic condenses until this path has a new message, for example after an undo."""
        self._content = _newest_content(path)

    def is_news(self, notice: str) -> bool:
        """Return whether the notice differs from the last one in more than its figures, and remember it.

        Repeating the same notice at every request would only annoy the user.
        """
        last, self._last_notice = self._last_notice, _FIGURES.sub("", notice)
        return self._last_notice != last


def overhead_objection(overhead: int, limit: int, window: int) -> str:
    """Return why no condense helps if system prompt and tools reach the limit. All figures are tokens."""
    return (
        f"The system prompt and tools alone take {overhead:,} tokens, but the limit is {limit:,} in a context "
        f"window of {window:,}, so condensing cannot help. Raise the threshold, shorten the project rules, or choose "
        "a model with a larger window."
    )


def _is_circling(given: ReductionInput) -> bool:
    """Return whether each of the newest automatic condenses followed the one before after less than 10 % new content.

    The share is of the context window. Only condenses after the last manual one count. What a truncation or mask
    removed in between still counts as new content.
    """
    tokens, new, condenses = given.context_tokens, 0, 0
    for entry in reversed(given.path):
        if not isinstance(entry.body, Marker):
            continue
        figures = entry.body.figures
        new += max(0, tokens - figures.tokens_after)
        tokens = figures.tokens_before
        if isinstance(entry.body, Condense):
            if figures.trigger == "manual" or new * _NEW_CONTENT_SHARE >= given.limits.window:
                return False
            condenses, new = condenses + 1, 0
            if condenses == MOST_ATTEMPTS:
                return True
    return False


def _newest_content(path: Sequence[Entry]) -> EntryId | None:
    contents = (entry.id for entry in reversed(path) if isinstance(entry.body, UserMessage | AssistantMessage))
    return next(contents, None)


def _is_waiting(path: Sequence[Entry]) -> bool:
    """Return whether a condense, its failure or a toggle is newer than every message."""
    for entry in reversed(path):
        if isinstance(entry.body, UserMessage | AssistantMessage):
            return False
        if isinstance(entry.body, Condense | CondenseFailed | Toggle):
            return True
    return False
