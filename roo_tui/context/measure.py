"""How full the context is: the last reported usage, and our own count of what came after it."""

from collections.abc import Sequence

from roo_tui.context.history.effective import effective_history
from roo_tui.context.window.tokens import TokenCounter, context_tokens
from roo_tui.domain.entries import AssistantMessage, Entry, UserMessage
from roo_tui.domain.ids import EntryId
from roo_tui.domain.markers import Condense, Mask, Toggle, Truncation
from roo_tui.domain.requests import ToolSpec
from roo_tui.domain.usage import Usage


def last_usage(
    path: Sequence[Entry], *, provider: str = "", model: str = "", after: EntryId = 0
) -> tuple[Usage, tuple[Entry, ...]] | None:
    """Return the newest usage that still describes the path, and the entries that came after its answer.

    None where nothing was reported since the last marker or toggle, by this `provider` and `model` (blank: by any), and
    after the entry `after`. Pass there the newest id the log had when the head was last moved: an older report is
    of another conversation, or of another system prompt.
    """
    for index in range(len(path) - 1, -1, -1):
        body = path[index].body
        if path[index].id <= after or isinstance(body, Condense | Truncation | Mask | Toggle):
            return None
        if isinstance(body, AssistantMessage) and body.usage is not None and body.usage.prompt_tokens > 0:
            if (provider and body.provider != provider) or (model and body.model != model):
                return None
            return body.usage, tuple(path[index + 1 :])
    return None


def measure(
    path: Sequence[Entry],
    counter: TokenCounter,
    ratio: float,
    *,
    system: Sequence[str] = (),
    tools: Sequence[ToolSpec] = (),
    provider: str = "",
    model: str = "",
    after: EntryId = 0,
) -> int:
    """Return the context tokens of the next request, system prompt and tools included.

    `provider`, `model` and `after` say which reports to believe, as in `last_usage`. Call it in a thread where the path
    may be long.
    """
    anchor = last_usage(path, provider=provider, model=model, after=after)
    if anchor is None:
        return context_tokens(None, counter.count_request(system, tools, effective_history(path)), ratio)
    usage, later = anchor
    bodies = [entry.body for entry in later if isinstance(entry.body, UserMessage | AssistantMessage)]
    return context_tokens(usage, counter.count_messages(bodies), ratio)
