"""The cut of a condense: what it hides, what stays, and which request is still in progress.

u1 a2 u3 | u4            an unanswered message stays: the cut is before it
u1 a2 t3 a4 t5 |         within a tool loop everything is hidden, and the summary repeats u1 word for word
u1 a2 |                  everything is answered: the summary repeats nothing
u1 a2 | u3 a4            the newest messages stay, as many as the caller asks for
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from roo_tui.context.history.effective import Visible, effective_history
from roo_tui.context.history.pairing import legal_cuts
from roo_tui.context.options import ContextOptions
from roo_tui.context.reduction_input import ReductionInput
from roo_tui.context.window.tokens import TokenCounter
from roo_tui.domain.blocks import Image, Text, tool_results, tool_uses
from roo_tui.domain.entries import AssistantMessage, Body, Entry, UserMessage
from roo_tui.domain.ids import EntryId
from roo_tui.domain.markers import Condense
from roo_tui.plain_text import plural
from roo_tui.prompt_files import render

_COMMAND = re.compile(r"<command(?:\s[^>]{0,2000})?>.*?</command>", re.DOTALL)
_COMMAND_END = "</command>"
_ENVIRONMENT = "<environment_details>"
# Imported summaries keep the headings they were written with (Roo Code).
_FOREIGN_HEADING = "## Active Workflows"

NOTHING_NEW = "There is nothing new to summarise since the last condense."


@dataclass(frozen=True, slots=True)
class Cut:
    """A cut of the effective history into `hidden` and `kept`.

    `request` is the user's message that the summary must repeat, empty if none is in progress.
    """

    hidden: tuple[Visible, ...]
    kept: tuple[Visible, ...]
    request: str = ""


def cut(path: Sequence[Entry], keep: int = 0) -> Cut:
    """Return the cut of a condense; the newest `keep` messages stay.

    With `keep`, the caller must make sure that no call is open before them (`pairing.legal_cuts`).
    """
    visible = effective_history(path)
    bodies = {entry.id: entry.body for entry in path}
    at = len(visible) - keep
    while at and _is_unanswered(visible[at - 1]):
        at -= 1
    hidden, kept = visible[:at], visible[at:]
    if any(_is_typed(bodies[message.entry_id]) for message in kept) or not _in_tool_loop(hidden, kept, bodies):
        return Cut(hidden, kept)
    return Cut(hidden, kept, _last_request(path))


def messages_since_summary(visible: Sequence[Visible]) -> int | None:
    """Return how many messages follow the last visible summary, None if there is none."""
    for count, message in enumerate(reversed(visible)):
        if message.source == "summary":
            return count
    return None


def too_few(path: Sequence[Entry], otherwise: str) -> str:
    """Return why a path with few messages is not reduced: it was condensed just now, or else `otherwise`."""
    since = messages_since_summary(effective_history(path))
    return otherwise if since is None or since > 1 else NOTHING_NEW


def standing_commands(path: Sequence[Entry]) -> tuple[str, ...]:
    """Return the `<command>` blocks of the task's first message and those that earlier summaries kept, each once.

    They are unchanged and in their original order. Source: Roo Code's active workflows.
    """
    found: dict[str, None] = {}
    first = next((entry.body for entry in path if isinstance(entry.body, UserMessage)), None)
    for text in _texts(first) if first else ():
        found.update(dict.fromkeys(command_blocks(text)))
    for entry in path:
        if isinstance(entry.body, Condense):
            # The first block is the answer, which may quote a command without keeping it.
            for block in entry.body.summary[1:]:
                if isinstance(block, Text) and _holds_commands(block.text):
                    found.update(dict.fromkeys(command_blocks(block.text)))
    return tuple(found)


def command_blocks(text: str) -> list[str]:
    """Return the `<command …>…</command>` stretches of a text, in order."""
    # Cut off after the last end tag, so that every start tag finds an end and the search stays linear.
    return _COMMAND.findall(text[: text.rfind(_COMMAND_END) + len(_COMMAND_END)]) if _COMMAND_END in text else []


def _holds_commands(text: str) -> bool:
    """Return whether a block attached to a summary has the heading of the commands."""
    own = render("summary_message/commands", commands="").split("\n")
    lines = text.split("\n", 2)
    return lines[0] == own[0] and len(lines) > 1 and lines[1] in (own[1], _FOREIGN_HEADING)


def _is_unanswered(message: Visible) -> bool:
    return message.source == "entry" and message.role == "user" and not tool_results(message.blocks)


def _is_typed(body: Body) -> bool:
    if not isinstance(body, UserMessage) or body.source not in ("typed", "import"):
        return False
    return body.source == "typed" or not tool_results(body.blocks)


def _in_tool_loop(hidden: Sequence[Visible], kept: Sequence[Visible], bodies: dict[EntryId, Body]) -> bool:
    if kept:
        return True
    if not hidden:
        return False
    body = bodies[hidden[-1].entry_id]
    if isinstance(body, AssistantMessage):
        return bool(tool_uses(body.blocks)) or body.interrupted
    return True


def _last_request(path: Sequence[Entry]) -> str:
    """Return the user's last message, hidden or not: its text, its commands, and its images as `[Image]`."""
    for entry in reversed(path):
        body = entry.body
        if isinstance(body, UserMessage) and _is_typed(body):
            texts = [text for text in _texts(body) if not text.lstrip().startswith(_ENVIRONMENT)]
            if body.words:
                texts = [body.words, *(command for text in texts for command in command_blocks(text))]
            texts += ["[Image]" for block in body.blocks if isinstance(block, Image)]
            return "\n\n".join(dict.fromkeys(text for text in texts if text.strip()))
    return ""


def _texts(message: UserMessage) -> list[str]:
    return [block.text for block in message.blocks if isinstance(block, Text)]


_FEWEST_HIDDEN = 2


def newest_to_keep(
    given: ReductionInput, counter: TokenCounter, options: ContextOptions
) -> tuple[int, tuple[str, ...]]:
    """Return how many of the newest messages stay, and remarks if the settings cannot be met.

    Whole turns stay (`keep_newest_turns`), and more until they have `min_kept_tokens`; but never so many that nothing
    is left to hide or, unless the condense is manual, that another one would be due.
    """
    if not options.keep_newest_turns and not options.min_kept_tokens:
        return 0, ()
    visible = effective_history(given.path)
    sizes = [round(given.ratio * counter.count_blocks(message.blocks)) for message in visible]
    most = _most_kept(given, sizes)
    first = max((at for at, message in enumerate(visible) if message.source == "summary"), default=-1) + 1
    cuts = [cut for cut in legal_cuts(visible) if max(_FEWEST_HIDDEN, first) <= cut and sum(sizes[cut:]) <= most]
    starts = _turn_starts(given, visible)
    wanted = len(visible)
    if options.keep_newest_turns and starts:
        wanted = starts[-min(options.keep_newest_turns, len(starts))]
    while wanted and sum(sizes[wanted:]) < options.min_kept_tokens:
        wanted -= 1
    cut = next((cut for cut in reversed(cuts) if cut <= wanted), None)
    remarks = []
    if cut is None:
        # Keeping as much as the settings ask is impossible, so keep as much as possible.
        cut = next((cut for cut in cuts if cut > wanted), len(visible))
        if options.keep_newest_turns:
            remarks.append("Fewer turns were kept than set, because all of them would have filled the context again.")
    kept = sum(sizes[cut:])
    if kept < options.min_kept_tokens:
        remarks.append(
            f"Only {kept:,} of at least {plural(options.min_kept_tokens, 'token')} were kept; more would have left too "
            "little to condense."
        )
    return len(visible) - cut, tuple(remarks)


def _most_kept(given: ReductionInput, sizes: Sequence[int]) -> int:
    """Return the tokens that may stay: all if the condense is manual, else half of what is left to the trigger."""
    if given.trigger == "manual":
        return sum(sizes)
    return max(0, given.limits.trigger_tokens - (given.context_tokens - sum(sizes))) // 2


def _turn_starts(given: ReductionInput, visible: Sequence[Visible]) -> list[int]:
    typed = {
        entry.id
        for entry in given.path
        if isinstance(entry.body, UserMessage) and not tool_results(entry.body.blocks) and entry.body.source != "engine"
    }
    return [at for at, message in enumerate(visible) if message.source == "entry" and message.entry_id in typed]
