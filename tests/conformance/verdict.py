"""What came of a case, and the reasons for which ours may differ from the recorded answer."""

from dataclasses import dataclass, field
from typing import Literal

Outcome = Literal["equal", "better on purpose", "unreachable", "wrong"]


@dataclass
class Findings:
    """Differences between the recorded answer and ours. Those without a reason of `reasons.REASONS` are wrong."""

    reasons: dict[str, str] = field(default_factory=dict)
    wrong: list[str] = field(default_factory=list)

    def better(self, reason: str, what: str = "") -> None:
        """Note a difference that is meant; whoever calls this has checked what must still hold."""
        self.reasons.setdefault(reason, what)

    def fail(self, what: str) -> None:
        """Note a difference nothing explains."""
        self.wrong.append(what)

    def check(self, holds: bool, what: str) -> bool:
        """Note a property that must hold and does not."""
        if not holds:
            self.fail(what)
        return holds

    def expect(self, name: str, expected: object, ours: object) -> bool:
        """Note that two values should be equal and are not."""
        return self.check(expected == ours, f"{name}: {_short(expected)} was recorded, ours is {_short(ours)}")


@dataclass(frozen=True)
class Verdict:
    """What came of one case. An unreachable one says in `equal_anyway` whether ours agreed all the same."""

    function: str
    name: str
    outcome: Outcome
    reasons: tuple[str, ...] = ()
    details: tuple[str, ...] = ()
    equal_anyway: bool = False


def _short(value: object) -> str:
    text = repr(value)
    return text if len(text) <= 300 else f"{text[:300]}…"
