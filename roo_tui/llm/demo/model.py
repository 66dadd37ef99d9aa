"""The demo's model: offline and scripted (see `script`), streamed as a real model's answers are."""

import asyncio
import json
import re
import secrets
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator

from roo_tui.domain.blocks import Block, Message, Text, Thinking, ToolResult, ToolUse, result_text
from roo_tui.domain.requests import (
    BlockClosed,
    BlockDelta,
    BlockOpened,
    Finished,
    ModelEvent,
    ModelInfo,
    Request,
    Started,
)
from roo_tui.domain.usage import Usage
from roo_tui.llm.demo.position import (
    is_condense_request,
    next_position,
    note,
    position_so_far,
    typed_text,
)
from roo_tui.llm.demo.script import GOALS, NOT_SCRIPTED, TASKS, DemoReply, stopped_by

SPEED = 200.0
_CHARACTERS_PER_TOKEN = 4
_PIECE = re.compile(r"\s*\S{1,8}|\s+")
_LISTED_MESSAGES = re.compile(r"6\. All user messages:\n((?:   - .*\n)+)")


class DemoModel:
    """A scripted model. `speed` is tokens (of four characters) per second; 0 streams without waiting."""

    def __init__(
        self,
        info: ModelInfo,
        *,
        speed: float = SPEED,
        sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
    ) -> None:
        self._info = info
        self._speed = speed
        self._sleep = sleep
        self._cached: list[str] = []

    @property
    def info(self) -> ModelInfo:
        """A small window, and made-up prices so that there are costs to show."""
        return self._info

    async def stream(self, request: Request) -> AsyncIterator[ModelEvent]:
        """Stream the script's answer to a request. Never fails."""
        blocks = self._blocks(reply_to(request))
        prompt = self._charged(request)
        yield Started(prompt)
        for index, block in enumerate(blocks):
            yield BlockOpened(index, block.type, block.name if isinstance(block, ToolUse) else "")  # type: ignore[arg-type]
            for piece in _PIECE.findall(_text(block)):
                await self._sleep(len(piece) / _CHARACTERS_PER_TOKEN / self._speed if self._speed else 0)
                yield BlockDelta(index, piece)
            yield BlockClosed(index, block)
        stop = "tool_use" if isinstance(blocks[-1], ToolUse) else "end_turn"
        yield Finished(stop, prompt + Usage(output_tokens=_tokens("".join(map(_text, blocks)))))

    async def count_tokens(self, request: Request) -> int | None:
        """Return a quarter of the prompt's characters, the same figure that the demo reports as usage."""
        return _tokens(_prompt_text(request))

    async def warm_up(self) -> None:
        """Do nothing: the demo has no SDK."""

    async def close(self) -> None:
        """Do nothing: the demo has no connections."""

    def _charged(self, request: Request) -> Usage:
        """Return the prompt's usage: what it shares with the last prompt is read from the cache, the rest written."""
        parts = list(_prompt_parts(request))
        same = next((i for i, (old, new) in enumerate(zip(self._cached, parts, strict=False)) if old != new), None)
        known = min(len(self._cached), len(parts)) if same is None else same
        self._cached = parts
        read = _tokens("".join(parts[:known]))
        return Usage(cache_read_tokens=read, cache_write_tokens=_tokens("".join(parts)) - read)

    def _blocks(self, reply: DemoReply) -> list[Block]:
        blocks: list[Block] = []
        if reply.thinking:
            blocks.append(Thinking(reply.thinking, "demo", self._info.provider, self._info.id))
        blocks.append(Text(reply.say))
        blocks += (ToolUse(f"demo_{secrets.token_hex(6)}", name, arguments) for name, arguments in reply.calls)
        return blocks


def reply_to(request: Request) -> DemoReply:
    """Return the script's answer to a request."""
    if is_condense_request(request):
        return DemoReply(_summary(request))
    position = next_position(request)
    steps = TASKS.get(position.task, ())
    if position.step >= len(steps):
        return NOT_SCRIPTED
    if position.failed:
        return stopped_by(position.failed)
    return steps[position.step].answer(position.results)


def _summary(request: Request) -> str:
    """Return a summary in nine sections, filled with what the conversation holds."""
    position = position_so_far(request)
    steps = TASKS.get(position.task, ())
    done = [step.note for step in steps[: position.step]]
    coming = steps[position.step] if position.step < len(steps) else None
    goal = GOALS.get(position.task, "None")
    work = f"{done[-1][0].upper()}{done[-1][1:]}." if done else "None"
    following = f"“{coming.reply.say.splitlines()[0]}” (the next step of the script)" if coming else "None"
    fixed = any("changed `add_months`" in text for text in done)
    change = "now stops at the last day of a shorter month" if fixed else "not changed"
    remedy = "fixed with `monthrange`" if fixed else "open"
    return f"""\
<analysis>
This conversation is part of the demo: its answers are scripted, its files and results are real. \
{len(done)} of {len(steps)} steps of the current task are done.
</analysis>

<summary>
1. Primary request and intent:
   {goal} {"Not finished." if coming else "Finished."}

2. Key technical concepts:
   - Python, standard library only; `unittest`; month arithmetic with `datetime.date`

3. Files and code sections:
   - billing/dates.py
      - `add_months(day, months)` is behind every due date; {change}
   - tests/test_dates.py
      - `test_a_month_after_the_31st_of_january_is_the_end_of_february`

4. Errors and fixes:
   - `ValueError: day is out of range for month`: `date.replace` keeps day 31; {remedy}

5. Problem solving:
{_list(done)}

6. All user messages:
{_list(_messages(request))}

7. Pending tasks:
   - {goal if coming else "None"}

8. Current work:
   {work} {note(position) if position.task else ""}

9. Optional next step:
   {following}
</summary>"""


def _messages(request: Request) -> list[str]:
    """Return the user's messages, those listed by an earlier summary first.

    The last text of the request is left out: it asks for the summary.
    """
    earlier: list[str] = []
    typed: list[str] = []
    for message in request.messages:
        if message.role != "user":
            continue
        blocks = message.blocks[:-1] if message is request.messages[-1] else message.blocks
        for block in blocks:
            found = _LISTED_MESSAGES.search(getattr(block, "text", ""))
            if found:
                earlier = [line.removeprefix("   - ") for line in found[1].splitlines()]
        text = typed_text(Message(message.role, blocks))
        if text:
            typed.append(" ".join(text.split())[:300])
    return [*earlier, *typed]


def _list(items: list[str]) -> str:
    return "\n".join(f"   - {item}" for item in items or ["None"])


def _text(block: Block) -> str:
    """Return what is streamed of a block: its text, or the JSON of a call's input."""
    match block:
        case Text(text) | Thinking(text):
            return text
        case ToolUse():
            return json.dumps(dict(block.input), ensure_ascii=False)
        case ToolResult():
            return result_text(block)
        case _:
            return ""


def _prompt_text(request: Request) -> str:
    return "".join(_prompt_parts(request))


def _prompt_parts(request: Request) -> Iterator[str]:
    yield from request.system
    for tool in request.tools:
        yield tool.name + tool.description + json.dumps(dict(tool.schema))
    for message in request.messages:
        yield from map(_text, message.blocks)


def _tokens(text: str) -> int:
    return -(-len(text) // _CHARACTERS_PER_TOKEN)


def build(info: ModelInfo, *, key: str, base_url: str) -> DemoModel:
    """Return the scripted model; it needs no key and no address."""
    del key, base_url
    return DemoModel(info)
