"""What keeps automatic condensing from running in circles. Guards block condensing, never truncation."""

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
    """The memory of one task's automatic attempts. `clock` gives seconds that never go back.

    What the log tells (a condense, its failure or an undo after the newest message) holds after a restart too.
    """

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._attempts: deque[float] = deque(maxlen=MOST_ATTEMPTS)
        self._content: EntryId | None = None
        self._said = ""

    def objection(self, given: ReductionInput, counter: TokenCounter) -> str:
        """Return why no automatic condense may run now, as a sentence for people; empty if one may.

        Counts system prompt and tools: call it in a thread.
        """
        limits = given.limits
        over = given.trigger == "forced" or decide(given.context_tokens, limits) == "over"
        limit = limits.allowed_tokens if over else limits.trigger_tokens
        overhead = round(given.ratio * counter.count_request(given.system, given.tools))
        if overhead >= limit:
            return overhead_objection(overhead, limit, limits.window)
        if _newest_content(given.path) == self._content or _is_waiting(given.path):
            return "Nothing new was said since the last condense was tried, so another one would not help."
        if _is_circling(given):
            return (
                f"The last {MOST_ATTEMPTS} automatic condenses had hardly anything new between them. Condense with "
                "instructions, rewind, or raise the threshold."
            )
        if len(self._attempts) == MOST_ATTEMPTS and self._clock() - self._attempts[0] < WITHIN_S:
            return (
                f"{MOST_ATTEMPTS} automatic condenses in {WITHIN_S:.0f} seconds did not bring the context below its "
                "limit. Condense with instructions, rewind, or raise the threshold."
            )
        return ""

    def attempted(self, path: Sequence[Entry]) -> None:
        """Remember that a model was asked to condense this path."""
        self._attempts.append(self._clock())
        self.wait_for_new_content(path)

    def succeeded(self) -> None:
        """Forget the attempts: the context is below its limit again."""
        self._attempts.clear()
        self._said = ""

    def wait_for_new_content(self, path: Sequence[Entry]) -> None:
        """Let no automatic condense run before a message follows on this path, for example after an undo."""
        self._content = _newest_content(path)

    def is_news(self, sentence: str) -> bool:
        """Return whether this differs from what was said last in more than its figures.

        Nobody wants the same sentence at every request.
        """
        said, self._said = self._said, _FIGURES.sub("", sentence)
        return self._said != said


def overhead_objection(overhead: int, limit: int, window: int) -> str:
    """Return why nothing helps where system prompt and tools alone reach the limit. All are tokens."""
    return (
        f"System prompt and tools alone take {overhead:,} tokens, and the limit is {limit:,} of a context "
        f"window of {window:,}: condensing cannot help. Raise the threshold, shorten the project's "
        "rules, or choose a model with a larger window."
    )


def _is_circling(given: ReductionInput) -> bool:
    """Say whether the newest automatic condenses each came with less than 10 % of the window new since the last.

    Only those after the last condense a person asked for count. What a truncation or mask took away meanwhile is not
    taken from what was new.
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
    """A condense, its failure or a toggle is newer than every message."""
    for entry in reversed(path):
        if isinstance(entry.body, UserMessage | AssistantMessage):
            return False
        if isinstance(entry.body, Condense | CondenseFailed | Toggle):
            return True
    return False
