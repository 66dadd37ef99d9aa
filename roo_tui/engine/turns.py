"""Turns one after another: the words that were submitted, then each queued message; and how a turn ends."""

import asyncio
import logging
from collections.abc import Callable
from dataclasses import replace
from datetime import datetime
from typing import Literal

from roo_tui import paths
from roo_tui.domain.entries import Noted, UserMessage
from roo_tui.domain.errors import ContextFull, ModelError, RooError
from roo_tui.domain.events import Notice, TurnEnded, TurnStarted
from roo_tui.domain.ids import new_id
from roo_tui.engine.environment import environment_details
from roo_tui.engine.project import read_project
from roo_tui.engine.runtime import Runtime
from roo_tui.engine.session import Session, close_open_calls
from roo_tui.engine.turn import Turn
from roo_tui.engine.user_message import compose
from roo_tui.plain_text import one_line
from roo_tui.tools.registry import specs

log = logging.getLogger(__name__)

Reason = Literal["completed", "cancelled", "failed", "context_full"]


async def run_turns(
    runtime: Runtime, session: Session, words: str, acknowledge: Callable[[RooError | None], None]
) -> None:
    """Run the turn for these words, then one for each queued message; after a turn that did not complete they wait.

    `acknowledge` is called once the first words are on disk, or with the error if they cannot be stored.
    """
    task = session.task
    queued: int | None = None
    if not words.strip() and task.queue:
        words, queued = task.queue[0].words, task.queue[0].id
    while True:
        turn_id = new_id()
        task.emit(TurnStarted(task.id, turn_id))
        reason: Reason = "cancelled"
        message = ""
        try:
            await _add_words(runtime, session, words, queued)
            acknowledge(None)
            reason, message = await _run(runtime, session, turn_id)
        except RooError as error:
            acknowledge(error)
            reason, message = "failed", str(error)
        finally:
            task.emit(TurnEnded(task.id, turn_id, reason, message))
        if reason != "completed" or not task.queue:
            return
        words, queued = task.queue[0].words, task.queue[0].id


async def _run(runtime: Runtime, session: Session, turn_id: str) -> tuple[Reason, str]:
    """Run one turn; what went wrong becomes a row of the transcript."""
    try:
        await Turn(runtime, session, turn_id).run()
        await session.context.run_pending(specs())
        return "completed", ""
    except ContextFull as error:
        return "context_full", await _note(session, "The context window is full", str(error))
    except ModelError as error:
        await _note(session, "The request failed", _facts(error))
        return "failed", str(error)
    except RooError as error:
        return "failed", await _note(session, "The turn stopped", str(error))
    except Exception:
        log.exception("a turn failed")
        sentence = f"Something went wrong that should not have; the log has it: {paths.log_file()}"
        return "failed", await _note(session, "The turn stopped", sentence)


async def _note(session: Session, title: str, detail: str) -> str:
    await session.task.record(Noted("error", title, detail))
    return detail


async def _add_words(runtime: Runtime, session: Session, words: str, queued: int | None) -> None:
    """Commit what the person typed, with what belongs to it; empty words continue where the task stands."""
    task = session.task
    await read_project(runtime)
    # A result that could not be stored (the disk was full) is missing still.
    await close_open_calls(task)
    await session.snapshots.before_message()
    if words.strip():
        environment = await asyncio.to_thread(environment_details, runtime, task, datetime.now())
        composed = await asyncio.to_thread(compose, words, environment, runtime.commands, runtime.workspace)
        is_first = not any(isinstance(entry.body, UserMessage) for entry in task.log.path())
        await task.record(composed.message, unqueue=queued)
        for name in composed.unread:
            task.emit(Notice(task.id, "warning", f"@{name} could not be read; it was not attached."))
        if is_first and not task.info.title:
            task.info = replace(task.info, title=one_line(words, 80))
            await runtime.store.set_title(task.id, task.info.title)
    await session.gauge.refresh()


def _facts(error: ModelError) -> str:
    facts = [str(error)]
    if error.status:
        facts.append(f"HTTP status: {error.status}")
    if error.code:
        facts.append(f"Error code: {error.code}")
    if error.body:
        facts.append(error.body)
    return "\n".join(facts)
