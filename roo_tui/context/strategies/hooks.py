"""Shell hooks before and after a condense.

A hook is a shell command. It gets one JSON object on stdin:

    {"event": "before_condense", "strategy": "smart", "trigger": "automatic", "context_tokens": 148210,
     "trigger_tokens": 172000, "window": 200000, "model": "…", "instructions": "", "messages": 412}

An after-hook gets `after_condense` and also `outcome` (success, failure), `tokens_after`, `cost_usd` and `message`. A
before-hook may answer on stdout with a JSON object: `{"block": true, "reason": "…"}` stops the condense,
`{"instructions": "…"}` adds to what the summary is told. Exit code 2 blocks too, with what it wrote to stderr as the
reason. Whatever else goes wrong with a hook is logged and changes nothing.
"""

import asyncio
import json
import logging
import os
import signal
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from roo_tui.context.history.effective import effective_history
from roo_tui.context.strategies.protocol import StrategyEvent
from roo_tui.domain.markers import Marker
from roo_tui.domain.usage import add_costs
from roo_tui.plain_text import clean

_BLOCKED = 2
_MOST_OUTPUT = 64_000
_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class HookReply:
    """What a before-hook said."""

    blocked: bool = False
    reason: str = ""
    instructions: str = ""


@dataclass(frozen=True, slots=True)
class CondenseHooks:
    """The commands to run, where, and with which environment: the caller leaves secrets out of it."""

    before: tuple[str, ...] = ()
    after: tuple[str, ...] = ()
    folder: Path = field(default_factory=Path)
    environment: Mapping[str, str] = field(default_factory=dict)
    timeout_s: float = 30.0

    async def run_before(self, event: StrategyEvent) -> HookReply:
        """Run the before-hooks in order until one blocks; instructions are joined."""
        instructions: list[str] = []
        for command in self.before:
            reply = await self._reply(command, _payload("before_condense", event))
            if reply.blocked:
                return reply
            if reply.instructions:
                instructions.append(reply.instructions)
        return HookReply(instructions="\n\n".join(instructions))

    async def run_after(self, event: StrategyEvent) -> None:
        """Run the after-hooks in order; what they say is not used."""
        for command in self.after:
            await self._run(command, _payload("after_condense", event))

    async def _reply(self, command: str, payload: Mapping[str, Any]) -> HookReply:
        ended = await self._run(command, payload)
        if ended is None:
            return HookReply()
        code, out, err = ended
        said = _object(out)
        if code == _BLOCKED or said.get("block") is True:
            reason = said.get("reason")
            return HookReply(True, reason if isinstance(reason, str) and reason else clean(err).strip())
        more = said.get("instructions")
        return HookReply(instructions=clean(more).strip() if isinstance(more, str) else "")

    async def _run(self, command: str, payload: Mapping[str, Any]) -> tuple[int, str, str] | None:
        """Return exit code, stdout and stderr; None where the command could not be run to its end."""
        try:
            process = await asyncio.create_subprocess_shell(
                command,
                stdin=asyncio.subprocess.PIPE,
                stdout=asyncio.subprocess.PIPE,
                stderr=asyncio.subprocess.PIPE,
                cwd=self.folder,
                env=dict(self.environment),
                start_new_session=True,
            )
        except OSError as error:
            _log.warning("hook could not be started: %s", error)
            return None
        try:
            async with asyncio.timeout(self.timeout_s):
                out, err = await process.communicate(json.dumps(payload).encode())
        except TimeoutError:
            _log.warning("hook took longer than %s s and was ended", self.timeout_s)
            return None
        except (BrokenPipeError, ConnectionResetError):
            out, err = b"", b""
        finally:
            if process.returncode is None:
                await _end(process)
        if process.returncode not in (0, _BLOCKED):
            _log.warning("hook ended with exit code %s", process.returncode)
        return process.returncode or 0, _text(out), _text(err)


async def _end(process: asyncio.subprocess.Process) -> None:
    """End a hook and whatever it started."""
    try:
        os.killpg(process.pid, signal.SIGKILL)
    except ProcessLookupError:
        pass
    await process.wait()


def _text(data: bytes) -> str:
    return data[:_MOST_OUTPUT].decode("utf-8", "replace")


def _object(text: str) -> Mapping[str, Any]:
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        return {}
    return value if isinstance(value, dict) else {}


def _payload(moment: str, event: StrategyEvent) -> dict[str, Any]:
    given = event.given
    payload: dict[str, Any] = {
        "event": moment,
        "strategy": event.strategy,
        "trigger": given.trigger,
        "context_tokens": given.context_tokens,
        "trigger_tokens": given.limits.trigger_tokens,
        "window": given.limits.window,
        "model": given.model.id,
        "instructions": given.instructions,
        "messages": len(effective_history(given.path)),
    }
    if moment == "after_condense":
        costs = None
        for body in event.bodies:
            if isinstance(body, Marker):
                costs = add_costs(costs, body.figures.cost_usd)
        payload |= {
            "outcome": event.kind,
            "tokens_after": event.tokens_after,
            "cost_usd": costs,
            "message": event.message,
        }
    return payload
