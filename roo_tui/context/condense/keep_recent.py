"""How many of the newest messages a condense leaves as they are: by default none, a fresh start from the summary."""

from collections.abc import Sequence

from roo_tui.context.history.effective import Visible, effective_history
from roo_tui.context.history.pairing import legal_cuts
from roo_tui.context.options import ContextOptions
from roo_tui.context.reduction_input import Situation
from roo_tui.context.window.tokens import TokenCounter
from roo_tui.domain.blocks import tool_results
from roo_tui.domain.entries import UserMessage

_FEWEST_HIDDEN = 2


def newest_to_keep(situation: Situation, counter: TokenCounter, options: ContextOptions) -> tuple[int, tuple[str, ...]]:
    """Return how many newest messages stay, and remarks where the settings could not be met.

    Kept are whole turns (`keep_newest_turns`), more where the kept messages are smaller than `min_kept_tokens`; never
    so many that nothing is left to hide, nor (unless a person asked for the condense) that it would be due again.
    """
    if not options.keep_newest_turns and not options.min_kept_tokens:
        return 0, ()
    visible = effective_history(situation.path)
    sizes = [round(situation.ratio * counter.count_blocks(message.blocks)) for message in visible]
    most = _most_kept(situation, sizes)
    first = max((at for at, message in enumerate(visible) if message.source == "summary"), default=-1) + 1
    cuts = [cut for cut in legal_cuts(visible) if max(_FEWEST_HIDDEN, first) <= cut and sum(sizes[cut:]) <= most]
    starts = _turn_starts(situation, visible)
    wanted = len(visible)
    if options.keep_newest_turns and starts:
        wanted = starts[-min(options.keep_newest_turns, len(starts))]
    while wanted and sum(sizes[wanted:]) < options.min_kept_tokens:
        wanted -= 1
    cut = next((cut for cut in reversed(cuts) if cut <= wanted), None)
    remarks = []
    if cut is None:
        # Keeping as much as was asked for is impossible; keep what may be kept.
        cut = next((cut for cut in cuts if cut > wanted), len(visible))
        if options.keep_newest_turns:
            remarks.append("Fewer of the newest turns were kept than set: they would have filled the context again.")
    kept = sum(sizes[cut:])
    if kept < options.min_kept_tokens:
        remarks.append(
            f"Kept as they are: {kept:,} tokens, fewer than the {options.min_kept_tokens:,} that are set; more would "
            "have left too little to condense."
        )
    return len(visible) - cut, tuple(remarks)


def _most_kept(situation: Situation, sizes: Sequence[int]) -> int:
    """Return the tokens that may stay: all where a person asked for it, else half of what is left to the trigger."""
    if situation.trigger == "manual":
        return sum(sizes)
    return max(0, situation.limits.trigger_tokens - (situation.context_tokens - sum(sizes))) // 2


def _turn_starts(situation: Situation, visible: Sequence[Visible]) -> list[int]:
    typed = {
        entry.id
        for entry in situation.path
        if isinstance(entry.body, UserMessage) and not tool_results(entry.body.blocks) and entry.body.source != "engine"
    }
    return [at for at, message in enumerate(visible) if message.source == "entry" and message.entry_id in typed]
