"""What is due: the limits of a window, how a condense must end, and whether a guard holds one back.

Worked out from the numbers and messages of a case alone, by the rules of the design; the product's own answers are
held against these.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Literal

from tests.conformance import words
from tests.conformance.histories import (
    Json,
    Plain,
    commands_in_force,
    parted,
    request_in_work,
    seen,
    text_tokens,
    tokens_of_all,
)

ASSUMED_OUTPUT = 8192
ASSUMED_WINDOW = 200_000
LOWEST_PERCENT, HIGHEST_PERCENT = 5, 100
MOST_ATTEMPTS, WITHIN_S = 3, 60.0
FORCED_PERCENT = 75
_MOST_EXTRAS = 50_000

Decision = Literal["nothing", "due", "over"]
Kind = Literal["condensed", "failed", "refused"]


@dataclass(frozen=True)
class Bounds:
    """The limits of a window, in tokens: what is reserved for the answer, what a request may have, the trigger."""

    window: int
    reserved: int
    allowed: int
    trigger: int

    def decide(self, tokens: int) -> Decision:
        """Say what a count of tokens asks for."""
        return "over" if tokens > self.allowed else "due" if tokens >= self.trigger else "nothing"


def bounds_of(given: Json) -> Bounds:
    """Return the limits of a case: at most a fifth of the window is reserved, unless a setting says otherwise."""
    window = given["contextWindow"] if given["contextWindow"] > 0 else ASSUMED_WINDOW
    asked, fifth = given.get("maxTokens") or 0, math.ceil(window / 5)
    reserved = min(ASSUMED_OUTPUT, fifth)
    if asked > 0:
        leaves_room = window * 9 // 10 - asked >= window // 10
        reserved = asked if leaves_room else fifth
    allowed = window * 9 // 10 - reserved
    by_percent = math.ceil(Fraction(_percent(given)) * window / 100)
    return Bounds(window, reserved, allowed, max(0, min(by_percent, allowed + 1)))


def _percent(given: Json) -> float:
    own = given["profileThresholds"].get(given["currentProfileId"], -1)
    if own is not None and LOWEST_PERCENT <= own <= HIGHEST_PERCENT:
        return float(own)
    return float(min(max(given["autoCondenseContextPercent"], LOWEST_PERCENT), HIGHEST_PERCENT))


@dataclass(frozen=True)
class End:
    """How a condense must end, and why: `few`, `recent`, `no gain` (refused), `model`, `growth` (failed) or nothing."""

    kind: Kind
    why: str = ""


def end_due(given: Json, answer: str | None) -> End:
    """Return how a condense of a case's messages must end; `answer` is what the model writes, None if it fails."""
    history = seen(given["messages"])
    hidden, _ = parted(history)
    summaries = [at for at, one in enumerate(history) if one.kind == "summary"]
    if summaries and len(history) - 1 - summaries[-1] <= 1:
        return End("refused", "recent")
    if len(history) < 2 or len(hidden) < 2:
        return End("refused", "few")
    required = required_texts(given["messages"], history)
    if tokens_of_all(hidden) <= text_tokens(*required):
        return End("refused", "no gain")
    if answer is None or not answer.strip():
        return End("failed", "model")
    if text_tokens(words.answer_block(answer), *required) >= tokens_of_all(hidden):
        return End("failed", "growth")
    return End("condensed")


def answer_of(handler: Json) -> str | None:
    """Return what a case's model writes, None where it cannot be called or raises."""
    if handler.get("no_create_message") or handler.get("raises"):
        return None
    return "".join(chunk["text"] for chunk in handler.get("chunks") or [] if chunk["type"] == "text")


def required_texts(messages: Sequence[Json], history: Sequence[Plain]) -> list[str]:
    """Return the blocks that are attached to a summary whatever their size: the commands, the request in work."""
    commands, request = commands_in_force(messages), request_in_work(messages, history)
    blocks = [words.commands_block(commands)] if commands else []
    return [*blocks, words.request_block(request)] if request else blocks


def room_for_extras(window: int, freed: int) -> tuple[int, int]:
    """Return the characters and tokens that attached blocks share: the least of what the design names."""
    half = max(0, freed // 2)
    return min(_MOST_EXTRAS, window * 4 // 10, half * 4), half


@dataclass
class GuardRule:
    """What holds automatic condensing back: the times of a task's attempts, and the message the last came after."""

    attempts: list[float] = field(default_factory=list)
    last_content: object = None

    def why(self, overhead: float, limit: int, content: object, now_s: float) -> str:
        """Return what holds a condense back: `overhead`, `nothing new`, `attempts`, or nothing.

        `content` stands for the newest message, None where a condense or its failure came after it.
        """
        if round(overhead) >= limit:
            return "overhead"
        if content is None or content == self.last_content:
            return "nothing new"
        recent = [at_s for at_s in self.attempts[-MOST_ATTEMPTS:] if now_s - at_s < WITHIN_S]
        return "attempts" if len(recent) == MOST_ATTEMPTS else ""

    def note(self, end: Kind, content: object, now_s: float, *, enough: bool) -> None:
        """Remember an attempt: a refusal asked no model, and a condense that was enough begins anew."""
        self.last_content = content
        if end != "refused":
            self.attempts.append(now_s)
        if enough:
            self.attempts.clear()
