"""One request to the model: what is sent, what streams back, and what is kept if it fails or is cancelled."""

import asyncio
from contextlib import aclosing
from dataclasses import replace
from typing import Literal

from roo_tui.context.history import effective_history, repair
from roo_tui.context.window import cost
from roo_tui.domain.blocks import Block, Text, Thinking, ToolUse
from roo_tui.domain.entries import AssistantMessage, Entry
from roo_tui.domain.errors import ModelError
from roo_tui.domain.events import (
    BlockEnded,
    BlockStarted,
    BlockText,
    RequestEnded,
    RequestStarted,
    RetryWaiting,
)
from roo_tui.domain.ids import new_id
from roo_tui.domain.requests import (
    BlockClosed,
    BlockDelta,
    BlockOpened,
    Finished,
    ModelEvent,
    Request,
    Started,
    ToolSpec,
)
from roo_tui.domain.usage import Usage
from roo_tui.engine.runtime import Runtime
from roo_tui.engine.task import OpenTask
from roo_tui.llm.retry import Restarted, with_retries

# How often streamed text is saved, so that a crash loses less than a second of it.
_SAVE_EVERY_S = 0.7


def build_request(task: OpenTask, runtime: Runtime, tools: tuple[ToolSpec, ...], max_output: int) -> Request:
    """Return the next request of the task. Walks the whole path: call it off the event loop."""
    info, profile = runtime.model.info, runtime.settings.active
    return Request(
        messages=repair(effective_history(task.log.path()), provider=info.provider, model=info.id),
        system=runtime.system,
        tools=tools,
        max_output=max_output,
        temperature=profile.temperature,
        thinking=profile.thinking,
    )


class ModelCall:
    """Streams one request and commits its answer, or the part that arrived."""

    def __init__(self, runtime: Runtime, task: OpenTask, turn_id: str) -> None:
        self._runtime = runtime
        self._task = task
        self._turn_id = turn_id
        self._info = runtime.model.info
        self._draft = _Draft(self._info.provider, self._info.id)
        self._abandoned: _Draft | None = None
        self._saved: AssistantMessage | None = None
        self._untold: tuple[str, list[str]] = ("", [])

    async def run(self, request: Request, attempt: int) -> Entry:
        """Send the request and return the committed answer.

        Raises:
            ModelError: the request failed for good; what was streamed is in the log as an interrupted answer.
        """
        request_id = new_id()
        self._task.emit(RequestStarted(self._task.id, self._turn_id, request_id, attempt))
        outcome: Literal["finished", "failed", "cancelled"] = "failed"
        try:
            saver = asyncio.create_task(self._keep_saving())
            try:
                finished = await self._stream(request)
            finally:
                saver.cancel()
            entry = await self._commit(finished)
            outcome = "finished"
            return entry
        except asyncio.CancelledError:
            outcome = "cancelled"
            await self._keep_partial()
            raise
        except ModelError:
            await self._keep_partial()
            raise
        finally:
            self._close_open_blocks()
            self._task.emit(RequestEnded(self._task.id, self._turn_id, request_id, outcome))

    async def _stream(self, request: Request) -> Finished:
        model = self._runtime.model
        async with aclosing(with_retries(model, request, self._waiting)) as events:
            async for event in events:
                if isinstance(event, Restarted):
                    await self._start_over()
                elif isinstance(event, BlockDelta):
                    self._tell_soon(self._draft.add(event.index, event.text), event.text)
                elif isinstance(event, Finished):
                    return event
                else:
                    await self._take(event)
        raise ModelError("The answer broke off before its end.", retryable=True)

    def _tell_soon(self, block_id: str, text: str) -> None:
        """Announce streamed text; everything that arrives in one packet becomes one event."""
        if self._untold[0] != block_id:
            self._tell()
            self._untold = (block_id, [])
            asyncio.get_running_loop().call_soon(self._tell)
        self._untold[1].append(text)

    def _tell(self) -> None:
        (block_id, texts), self._untold = self._untold, ("", [])
        if texts:
            self._task.emit(BlockText(self._task.id, block_id, "".join(texts)))

    async def _take(self, event: ModelEvent) -> None:
        self._tell()
        match event:
            case Started(usage):
                self._draft.usage = usage
            case BlockOpened(index, type_, name):
                block_id = self._draft.open(index, type_, name)
                self._task.emit(BlockStarted(self._task.id, block_id, type_, name))
            case BlockClosed(index, block):
                block_id = self._draft.close(index, block)
                await self._save()
                self._task.emit(BlockEnded(self._task.id, block_id))
            case BlockDelta() | Finished():
                pass

    def _waiting(self, attempt: int, of: int, seconds: float, reason: str) -> None:
        self._task.emit(RetryWaiting(self._task.id, "request", attempt, of, seconds, reason))

    async def _start_over(self) -> None:
        """Begin a new attempt; the failed one still costs, and its text is kept in case that none succeeds."""
        self._close_open_blocks()
        await self._pay()
        self._abandoned = self._fullest()
        self._draft = _Draft(self._info.provider, self._info.id)

    def _fullest(self) -> "_Draft":
        """Return the attempt that streamed the most; of equals, the current one."""
        if self._abandoned is None or self._draft.size >= self._abandoned.size:
            return self._draft
        return self._abandoned

    async def _commit(self, finished: Finished) -> Entry:
        blocks, block_ids = self._draft.closed()
        body = AssistantMessage(
            blocks=blocks,
            provider=self._info.provider,
            model=self._info.id,
            usage=finished.usage,
            cost_usd=cost(self._info, finished.usage),
            stop_reason=finished.stop_reason,
        )
        return (await self._task.record(body, drop_draft=True, block_ids=block_ids))[0]

    async def _keep_partial(self) -> None:
        body, block_ids = self._fullest().interrupted()
        if body.blocks or body.unsent:
            await self._task.record(body, drop_draft=True, block_ids=block_ids)
        await self._pay()

    async def _pay(self) -> None:
        """Charge the current attempt for its prompt and what it streamed; its end, with the bill, never came."""
        usage = self._draft.usage
        if usage is None:
            return
        ratio = self._runtime.calibration.ratio(self._info)
        streamed = round(ratio * await asyncio.to_thread(self._runtime.counter.count_text, self._draft.streamed()))
        price = cost(self._info, replace(usage, output_tokens=max(usage.output_tokens, streamed)))
        if price:
            await self._task.spend(price)

    async def _keep_saving(self) -> None:
        while True:
            await asyncio.sleep(_SAVE_EVERY_S)
            await self._save()

    async def _save(self) -> None:
        body, _ = self._fullest().interrupted()
        if body != self._saved and (body.blocks or body.unsent):
            self._saved = body
            await self._runtime.store.save_draft(self._task.id, body)

    def _close_open_blocks(self) -> None:
        self._tell()
        for block_id in self._draft.open_ids():
            self._task.emit(BlockEnded(self._task.id, block_id))


class _Draft:
    """The part of the answer that has arrived. Every block has an id from its start on."""

    def __init__(self, provider: str, model: str) -> None:
        self.usage: Usage | None = None
        self._provider = provider
        self._model = model
        self._ids: dict[int, str] = {}
        self._blocks: dict[int, Block] = {}
        self._open: dict[int, tuple[str, str, list[str]]] = {}
        self._streamed: list[str] = []

    @property
    def size(self) -> int:
        """How many characters have arrived."""
        return sum(map(len, self._streamed))

    def streamed(self) -> str:
        """Return all text that has arrived, of whatever kind."""
        return "".join(self._streamed)

    def open(self, index: int, type_: str, name: str) -> str:
        """Start a block and return its id; `index` is its number in the answer."""
        self._ids[index] = new_id()
        self._open[index] = (type_, name, [])
        return self._ids[index]

    def add(self, index: int, text: str) -> str:
        """Add text to an open block and return the block's id."""
        self._open[index][2].append(text)
        self._streamed.append(text)
        return self._ids[index]

    def close(self, index: int, block: Block) -> str:
        """Put the complete block in place of an open one and return its id."""
        self._blocks[index] = block
        del self._open[index]
        return self._ids[index]

    def open_ids(self) -> list[str]:
        """Return the ids of the blocks that are still open."""
        return [self._ids[index] for index in self._open]

    def closed(self) -> tuple[tuple[Block, ...], tuple[str, ...]]:
        """Return the complete blocks and their ids, in order."""
        order = sorted(self._blocks)
        return tuple(self._blocks[index] for index in order), tuple(self._ids[index] for index in order)

    def interrupted(self) -> tuple[AssistantMessage, tuple[str, ...]]:
        """Return the answer to keep if it ended now, and the ids of its blocks, those of `unsent` last.

        Incomplete text is kept; an incomplete call and unsigned thinking are only shown.
        """
        closed, closed_ids = self.closed()
        blocks, ids = list(closed), list(closed_ids)
        unsent: list[Block] = []
        unsent_ids: list[str] = []
        for index in sorted(self._open):
            type_, name, parts = self._open[index]
            text = "".join(parts)
            if type_ == "text" and text.strip():
                blocks.append(Text(text))
                ids.append(self._ids[index])
            elif type_ == "thinking" and text.strip():
                unsent.append(Thinking(text, provider=self._provider, model=self._model))
                unsent_ids.append(self._ids[index])
            elif type_ == "tool_use":
                unsent.append(ToolUse("", name, {"": text}))
                unsent_ids.append(self._ids[index])
        message = AssistantMessage(
            tuple(blocks), tuple(unsent), self._provider, self._model, stop_reason="interrupted", interrupted=True
        )
        return message, (*ids, *unsent_ids)
