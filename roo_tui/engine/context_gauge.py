"""How full the open task's context is, and its limits: one count for the bar, the policy and the rows."""

import asyncio
from collections.abc import Callable
from dataclasses import replace

from roo_tui.context.history import effective_history
from roo_tui.context.window import (
    HIGHEST_THRESHOLD,
    AutoThreshold,
    Calibration,
    Limits,
    auto_threshold,
    break_down,
    context_tokens,
    left_by_condense,
    limits,
    notice_at,
    recent_growth,
)
from roo_tui.domain.entries import AssistantMessage, Entry, UserMessage
from roo_tui.domain.events import ContextChanged, HeaderChanged, Notice
from roo_tui.domain.ids import EntryId
from roo_tui.domain.markers import Condense, Marker, Mask, Toggle, Truncation
from roo_tui.domain.requests import ModelInfo
from roo_tui.domain.views import ContextBreakdown, ContextUse
from roo_tui.engine.model_limits import ModelLimits
from roo_tui.engine.runtime import Runtime
from roo_tui.engine.task import OpenTask
from roo_tui.llm.options import Profile
from roo_tui.tools.registry import specs

# Tokens of a result that are shown however full the context is; tokens kept free for what accompanies a result.
_LEAST_SHOWN, _SPARE = 500, 200


class ContextGauge:
    """Counts the context of one open task and knows its limits, including those the provider stated in errors."""

    def __init__(self, runtime: Runtime, task: OpenTask) -> None:
        self._runtime = runtime
        self._task = task
        self._counted: tuple[EntryId, int] = (-1, 0)
        self._used = 0
        self._noticed = False
        self._adapted: AutoThreshold | None = None

    def limits(self) -> Limits:
        """Return the limits for the current model and settings."""
        settings, profile = self._runtime.settings, self._runtime.settings.active
        adapted = self._adapted.percent if self._adapted else HIGHEST_THRESHOLD
        stated, info = self._said_by_provider(), self._runtime.model.info
        most = stated.max_output or max(info.max_output, profile.max_output)
        return limits(
            replace(info, max_output=min(info.max_output, most)),
            window=stated.window or profile.window,
            max_output=min(profile.max_output, most),
            profile_percent=adapted if profile.threshold_percent == "auto" else profile.threshold_percent,
            global_percent=adapted
            if settings.context.threshold_percent == "auto"
            else settings.context.threshold_percent,
        )

    @property
    def tokens(self) -> int:
        """The context tokens at the last count."""
        return self._used

    def would_fit(self, profile: Profile, info: ModelInfo) -> bool:
        """Return whether the history fits into another model's window."""
        allowed = limits(info, window=profile.window, max_output=profile.max_output).allowed_tokens
        return self._used * self._runtime.calibration.ratio(info) / self.ratio() <= allowed

    def fitting(self, text: str, cut: Callable[[int], str]) -> str:
        """Return a result's text, shortened by `cut(characters)` until it does not cause a condense by itself.

        Text that fits into the free space is returned unchanged. Counts tokens: call it in a thread.
        """
        figures, size = self.limits(), self._size(text)
        if size <= figures.allowed_tokens - self._used:
            return text
        most = max(figures.trigger_tokens - self._used - _SPARE, _LEAST_SHOWN)
        shown, characters = text, float(len(text))
        while size > most:
            characters *= 0.98 * most / size
            shown = cut(int(characters))
            size = self._size(shown)
        return shown

    def _size(self, text: str) -> int:
        return round(self.ratio() * self._runtime.counter.count_text(text))

    def use(self) -> ContextUse:
        """Return the figures of the context bar."""
        figures = self.limits()
        return ContextUse(
            self._used,
            figures.window,
            figures.reserved,
            figures.trigger_tokens,
            self._runtime.settings.context.auto_condense,
            self._adapted.sentence if self._adapted else "",
        )

    async def refresh(self) -> None:
        """Count what is new, announce the figures of bar and header, and notify once that a condense is near."""
        self._used = await self._count()
        self._adapted = await asyncio.to_thread(self._adapt) if self._adapts() else None
        self._task.emit(ContextChanged(self._task.id, self.use()))
        self._task.emit(HeaderChanged(self._task.id, self._runtime.header(self._task)))
        figures = self.limits()
        near = self._used >= notice_at(figures)
        if near and not self._noticed and self._runtime.settings.context.auto_condense:
            self._task.emit(Notice(self._task.id, "info", _near_text(self._used, figures.trigger_tokens)))
        self._noticed = near

    async def recount(self) -> None:
        """Count everything visible again: parts counted with different ratios may not add up to the whole."""
        path = self._task.log.path()
        self._counted = (path[-1].id if path else 0, await asyncio.to_thread(self._measure, path))
        await self.refresh()

    def _adapts(self) -> bool:
        own, general = self._runtime.settings.active.threshold_percent, self._runtime.settings.context.threshold_percent
        return own == "auto" or (own == -1 and general == "auto")

    def _adapt(self) -> AutoThreshold:
        runtime, path = self._runtime, self._task.log.path()
        info = runtime.model.info
        overhead = round(self.ratio() * runtime.counter.count_request(runtime.system, specs()))
        window = self._said_by_provider().window or runtime.settings.active.window or info.window
        return auto_threshold(info, window, left_by_condense(path, overhead), recent_growth(path))

    async def _count(self) -> int:
        """Return the context tokens: the last known count, plus or minus what each later entry adds or frees.

        A count from before a marker is corrected by the marker's own figures.
        """
        path = self._task.log.path()
        start, tokens = self._last_known(path)
        if start < 0:
            tokens = await asyncio.to_thread(self._measure, path)
            self._counted = (path[-1].id if path else 0, tokens)
            return tokens
        ratio, counter = self.ratio(), self._runtime.counter
        for entry in path[start:]:
            match entry.body:
                case UserMessage(blocks=blocks) | AssistantMessage(blocks=blocks):
                    tokens += round(ratio * counter.count_blocks(blocks))
                case Condense(figures=figures) | Truncation(figures=figures) | Mask(figures=figures):
                    tokens += figures.tokens_after - figures.tokens_before
                case Toggle(marker_id=marker_id, on=on):
                    tokens += _change_of(self._task.log.find(marker_id), on)
        return max(tokens, 0)

    def _last_known(self, path: tuple[Entry, ...]) -> tuple[int, int]:
        """Return the index to count from and the tokens known there; an index of -1 means that nothing is known."""
        info = self._runtime.model.info
        for index in range(len(path) - 1, -1, -1):
            body = path[index].body
            if isinstance(body, AssistantMessage) and body.usage is not None and body.model == info.id:
                return index + 1, body.usage.context_tokens
            if self._counted[0] == path[index].id:
                return index + 1, self._counted[1]
        return -1, 0

    def _measure(self, path: tuple[Entry, ...]) -> int:
        raw = self._runtime.counter.count_request(self._runtime.system, specs(), effective_history(path))
        return context_tokens(None, raw, self.ratio())

    async def overhead(self) -> int:
        """Return the tokens of system prompt and tools, which no reduction can free."""
        runtime = self._runtime
        return round(self.ratio() * await asyncio.to_thread(runtime.counter.count_request, runtime.system, specs()))

    async def breakdown(self) -> ContextBreakdown:
        """Return what fills the context window, by kind and by entry."""
        path, runtime = self._task.log.path(), self._runtime
        return await asyncio.to_thread(
            break_down, path, runtime.counter, self._used, system=runtime.system, tools=specs()
        )

    def ratio(self) -> float:
        """Return the model's tokens per locally counted token, learnt over many requests."""
        return self._runtime.calibration.ratio(self._runtime.model.info)

    async def ratio_now(self) -> float:
        """Return the same ratio for the current context alone; reductions calculate with it.

        It makes the figures of a reduction a share of what the context holds. The learnt ratio may be far off for the
        kind of text in it, so that a reduction would seem to free more tokens than there are.
        """
        runtime, path = self._runtime, self._task.log.path()
        raw = await asyncio.to_thread(runtime.counter.count_request, runtime.system, specs(), effective_history(path))
        return Calibration.clamped(self._used / raw) if raw and self._used else self.ratio()

    def learn(self, raw: int, answer: AssistantMessage) -> None:
        """Learn the ratio from the prompt tokens the provider charged for a request that counted `raw` tokens here."""
        if answer.usage is not None:
            self._runtime.calibration.learn(self._runtime.model.info, raw, answer.usage.prompt_tokens)

    def learn_output_limit(self, most: int) -> bool:
        """Limit answers to this many tokens from now on; return False if that is no lower than the current limit."""
        if not 0 < most < self.limits().reserved:
            return False
        self._said_by_provider().max_output = most
        text = f"The provider allows at most {most:,} tokens per answer. Sending the request again with that limit."
        self._task.emit(Notice(self._task.id, "info", text))
        return True

    async def correct(self, raw: int, counted: int) -> None:
        """Count anew with what the provider counted of a request that it refused as too long."""
        self._runtime.calibration.correct(self._runtime.model.info, raw, counted)
        await self.recount()

    def learn_window(self, window: int) -> None:
        """Use the context window that the provider stated for the current model."""
        self._said_by_provider().window = window

    def _said_by_provider(self) -> ModelLimits:
        return self._runtime.learned.limits_of(self._runtime.settings.active, self._runtime.model.info)


def _near_text(used: int, trigger: int) -> str:
    """Return the notice that a condense is near, or due."""
    if used >= trigger:
        return f"A condense is due: {used:,} of {trigger:,} tokens. It runs before the next request."
    return (
        f"The context will be condensed at {trigger:,} tokens; it holds {used:,} now. "
        "To postpone this, raise the threshold or switch automatic condensing off in the settings (F2)."
    )


def _change_of(entry: Entry | None, on: bool) -> int:
    """Return the tokens a toggle adds: its marker's change if it switches on, the opposite if it switches off."""
    if entry is None or not isinstance(entry.body, Marker):
        return 0
    figures = entry.body.figures
    taken = figures.tokens_after - figures.tokens_before
    return taken if on else -taken
