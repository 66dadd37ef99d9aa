"""Play operations on a real engine, and after each of them ask the model again.

Only the model is played by `Partner`; what keeps the log is given: a store in memory for many short sequences, the real
one for some. After each operation: no request was one the API refuses, nothing is lost, and a next turn can be sent.
"""

import asyncio
import logging
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any
from unittest.mock import patch

from roo_tui import settings as settings_room
from roo_tui.context.guards import Guards
from roo_tui.context.history.effective import Visible, effective_history
from roo_tui.context.options import ContextOptions
from roo_tui.context.sliding_window import slide_window
from roo_tui.context.window.tokens import TokenCounter
from roo_tui.domain.blocks import Image, Text, Thinking, ToolResult, tool_results, tool_uses
from roo_tui.domain.entries import AssistantMessage, Body, Entry, UserMessage
from roo_tui.domain.errors import RooError
from roo_tui.domain.events import TurnEnded
from roo_tui.domain.ids import EntryId
from roo_tui.domain.markers import Condense, CondenseFailed, Mask, Toggle, Truncation
from roo_tui.domain.previews import CondenseRequest
from roo_tui.engine import Engine
from roo_tui.engine.project_rules import system_prompt
from roo_tui.engine.request import build_request
from roo_tui.engine.session import Session
from roo_tui.llm.retry import with_retries
from roo_tui.settings import Settings
from roo_tui.tools.registry import specs
from tests.support.mortal_store import Crash as Died
from tests.support.mortal_store import MortalStore
from tests.support.odd_blocks import MODEL, PROVIDER
from tests.support.partner import Partner, words
from tests.support.reductions import inputs
from tests.support.request_content import losses
from tests.support.sequences import (
    Cancelled,
    CondenseNow,
    Crash,
    ForeignMarker,
    Imported,
    MaskNow,
    Operation,
    Pin,
    Plain,
    Redo,
    Rewind,
    Said,
    SaveAndLoad,
    Setting,
    SwitchModel,
    TruncateNow,
    Turn,
    Undo,
)

COUNTER = TokenCounter()
_LONGEST_S = 60.0
_OF_CONTEXT = (
    "auto_condense",
    "strategy",
    "smart_preset",
    "lossless_first",
    "fallback",
    "keep_newest_turns",
    "append_receipt",
    "background_condense",
)
_PICTURE = bytes.fromhex(
    "89504e470d0a1a0a0000000d49484452000000010000000108060000001f15c4890000000d49444154789c6360000002000001e221bc33"
    "0000000049454e44ae426082"
)


class Broken(AssertionError):
    """A law is broken: `refused` by the API, `lost` or `stuck`."""

    def __init__(self, kind: str, sentence: str) -> None:
        super().__init__(f"{kind}: {sentence}")
        self.kind = kind


@dataclass
class Figures:
    """What was played, to see that nothing was left out: `happened` counts operations, markers, faults and failures,
    `different` has a hash of each sequence."""

    sequences: int = 0
    operations: int = 0
    requests: int = 0
    on_event: Counter[str] = field(default_factory=Counter)
    different: set[int] = field(default_factory=set)

    def add(self, other: "Figures") -> None:
        self.sequences += other.sequences
        self.operations += other.operations
        self.requests += other.requests
        self.on_event += other.on_event
        self.different |= other.different


def prepare(workspace: Path) -> None:
    """Write the files that calls read."""
    workspace.mkdir(parents=True, exist_ok=True)
    (workspace / "small.txt").write_text("one\ntwo\n")
    (workspace / "large.txt").write_text("".join(f"line {number} of the large file\n" for number in range(120)))
    (workspace / "picture.png").write_bytes(_PICTURE)


async def no_wait(seconds: float) -> None:
    """What a retry waits."""


def without_waiting() -> Any:
    """Return a context in which retries follow at once."""
    defaults = with_retries.__defaults__
    assert defaults is not None and defaults[-1] is asyncio.sleep
    return patch.object(with_retries, "__defaults__", (*defaults[:-1], no_wait))


class Conversation:
    """One task under a setting, from its first operation to the last.

    `open_store` gives a new program the store that the one before used. With threads, `poll_s` are the seconds between
    two looks whether something still runs.
    """

    def __init__(
        self,
        workspace: Path,
        setting: Setting,
        open_store: Callable[[], Any],
        *,
        checkpoints: bool = False,
        poll_s: float = 0,
    ) -> None:
        self.figures = Figures(sequences=1)
        self._workspace = workspace
        self._open_store = open_store
        self._poll_s = poll_s
        self._partners = _partners(workspace, setting)
        self._settings = _settings(workspace, setting, checkpoints)
        self._now_s = 0.0
        self._words = 0
        self._leave_questions = False
        self._hang_up = False
        self._known: dict[EntryId, Entry] = {}
        self._seen: dict[EntryId | None, tuple[Visible, ...]] = {}
        self._typed: list[str] = []
        self._errors: list[str] = []
        self._engine: Engine
        self._store: MortalStore
        self._task_id = ""

    async def play(self, operations: Sequence[Operation]) -> None:
        """Play the operations.

        Raises:
            Broken: a law does not hold.
        """
        asyncio.get_running_loop().set_exception_handler(self._escaped)
        listener = _Listener(self._errors)
        logging.getLogger("roo_tui").addHandler(listener)
        try:
            await self._open()
            for operation in operations:
                self._count(operation)
                await self._carry_out(operation)
                self._check()
                await self._ask_again()
                self._check()
                self._now_s += 30
            await self._check_guards()
            await self._engine.read.rows()
        finally:
            logging.getLogger("roo_tui").removeHandler(listener)
            await self._abandon()

    # The program.

    async def _open(self) -> None:
        self._store = MortalStore(self._open_store())
        with patch("roo_tui.engine.engine.open_store", lambda path: self._store):
            self._engine = Engine(
                self._workspace, self._settings, auto_approve=True, models=lambda profile: self._partners[profile.name]
            )
        self._engine._runtime.counter = COUNTER
        await self._engine.start()
        self._stream = self._engine.subscribe()
        if self._task_id:
            await self._engine.open_task(self._task_id)
            await self._engine.measure()
        else:
            self._task_id = await self._engine.new_task()
        self._use_our_clock()

    async def _abandon(self) -> None:
        """End the program as a crash does: nothing more is written."""
        self._store.die(-1, late=False)
        self._engine.cancel()
        await self._settled()
        session = self._engine.read.session
        if session is not None:
            try:
                await session.context.forget_background()
            except Died:
                pass
            await session.checkpointing.settle()
            session.task.close()
        await self._engine._runtime.workspace.commands.kill_all()
        await self._engine._runtime.outliner.close()
        self._engine._runtime.bus.close()
        await self._store.close()

    @property
    def _session(self) -> Session:
        session = self._engine.read.session
        assert session is not None
        return session

    @property
    def _path(self) -> tuple[Entry, ...]:
        return self._session.task.log.path()

    def _use_our_clock(self) -> None:
        self._session.context._guards = Guards(lambda: self._now_s)

    def _escaped(self, loop: asyncio.AbstractEventLoop, context: dict[str, Any]) -> None:
        error = context.get("exception")
        if not isinstance(error, Died):
            self._errors.append(f"{context.get('message')}: {error!r}")

    async def _settled(self) -> None:
        """Wait until nothing runs; what falls silent is cancelled or, while the model is well, hangs up."""
        loop = asyncio.get_running_loop()
        until = loop.time() + _LONGEST_S
        while self._engine.busy:
            for partner in self._partners.values():
                silence = partner.silent and partner.silent.until
                if silence and self._hang_up:
                    silence.set()
                elif silence:
                    self._engine.cancel()
            for question in self._engine.read.questions():
                if self._leave_questions:
                    self._engine.cancel()
                else:
                    self._engine.answer(question.id, question.options[0].id if question.options else "", "yes")
            await asyncio.sleep(self._poll_s)
            if loop.time() > until:
                raise Broken("stuck", f"something still runs after {_LONGEST_S:.0f} seconds")

    async def _say(self, text: str, *, then: Callable[[], Any] | None = None) -> TurnEnded | None:
        """Submit a message, wait for the end of its turn (and of those queued), and return how the last one ended."""
        self._ends()
        try:
            await self._engine.submit(text)
        except asyncio.CancelledError:
            # The turn was over before the message was on disk.
            pass
        else:
            self._typed.append(text)
        if then is not None:
            await then()
        await self._settled()
        ends = self._ends()
        return ends[-1] if ends else None

    def _ends(self) -> list[TurnEnded]:
        events = []
        while not self._stream._queue.empty():
            event = self._stream._queue.get_nowait()
            if isinstance(event, TurnEnded):
                events.append(event)
        return events

    # Operations.

    def _count(self, operation: Operation) -> None:
        self.figures.operations += 1
        inner = operation.during if isinstance(operation, Crash) else operation
        self.figures.on_event[f"operation {type(inner).__name__}"] += 1
        if isinstance(operation, Crash):
            self.figures.on_event["operation Crash"] += 1

    async def _carry_out(self, operation: Operation) -> None:
        if not isinstance(operation, Crash):
            await self._attempt(operation)
            return
        self._store.die(operation.commits, late=operation.late)
        try:
            await self._attempt(operation.during)
        except (Died, asyncio.CancelledError):
            pass
        self.figures.on_event["crashed at a commit" if self._store.dead else "crashed afterwards"] += 1
        # What was not acknowledged may be gone.
        self._typed.clear()
        await self._abandon()
        await self._open()

    async def _attempt(self, operation: Plain) -> None:
        try:
            await self._perform(operation)
        except RooError as error:
            self.figures.on_event[f"refused: {type(error).__name__}"] += 1

    async def _perform(self, operation: Plain) -> None:
        engine = self._engine
        self._hang_up = False
        match operation:
            case Turn():
                await self._turn(operation)
            case Cancelled():
                await self._cancelled(operation)
            case CondenseNow(fault=fault, instructions=instructions, strategy=strategy, preset=preset):
                self._misbehave(fault)
                await engine.condense(CondenseRequest(instructions, strategy, preset))
                await self._settled()
            case MaskNow():
                await engine.condense(CondenseRequest(strategy="lossless"))
                await self._settled()
            case TruncateNow():
                await engine.truncate()
            case Undo(which=which):
                await engine.undo(self._marker(which))
            case Redo(which=which):
                await engine.redo(self._marker(which))
            case Rewind(back=back):
                if points := await engine.read.rewind_points():
                    await engine.rewind(points[-1 - back % len(points)].entry_id)
            case Pin(which=which, on=on):
                if path := self._path:
                    await engine.pin(path[which % len(path)].id, on=on)
            case SaveAndLoad(restart=False) | Imported() | ForeignMarker():
                await self._reopen(self._foreign(operation))
            case SaveAndLoad():
                await self._engine._close_session()
                await self._abandon()
                await self._open()
            case SwitchModel():
                other = "other" if engine.settings.profile == "default" else "default"
                await engine.choose_profile(other)
                self._settings = engine.settings

    async def _turn(self, turn: Turn) -> None:
        self._misbehave(turn.fault)
        for partner in self._partners.values():
            partner.say_next(turn.answers)
            partner.too_long = turn.too_long

        async def meanwhile() -> None:
            if turn.queued:
                await self._engine.submit(second)
                self._typed.append(second)
            if turn.condense:
                await self._engine.condense()

        second = self._new_words("small")
        await self._say(self._new_words(turn.size), then=meanwhile)

    async def _cancelled(self, operation: Cancelled) -> None:
        self._leave_questions = operation.at == "question"
        last: tuple[Any, ...] = (Said("question"),) if self._leave_questions else ("silence",)
        for partner in self._partners.values():
            partner.say_next([(*operation.said, *last)])

        async def at_once() -> None:
            self._engine.cancel()

        try:
            await self._say(self._new_words("small"), then=at_once if operation.at == "request" else None)
        finally:
            self._leave_questions = False

    def _foreign(self, operation: SaveAndLoad | Imported | ForeignMarker) -> list[Body]:
        match operation:
            case Imported(long=long, messages=messages):
                return [
                    *self._long(long),
                    *(
                        UserMessage(blocks, source="import")
                        if role == "user"
                        else AssistantMessage(blocks, provider=PROVIDER, model=MODEL)
                        for role, blocks in messages
                    ),
                ]
            case ForeignMarker(kind=kind, hides=numbers) if visible := effective_history(self._path):
                hides = tuple(sorted({visible[number % len(visible)].entry_id for number in numbers}))
                if kind == "truncation":
                    return [Truncation(hides)]
                return [Condense(hides, () if kind == "empty condense" else _summary(hides))]
        return []

    def _long(self, turns: int) -> list[Body]:
        found: list[Body] = []
        for _ in range(turns):
            said, answered = self._new_words("medium"), self._new_words("large")
            found += [UserMessage((Text(said),), words=said), AssistantMessage((Text(answered),))]
        return found

    async def _reopen(self, bodies: list[Body]) -> None:
        """Close the task, let another program append to it, and open it again."""
        head = self._session.task.log.head
        if bodies:
            await self._store.append(self._task_id, bodies, parent=head)
        await self._engine.open_task(self._task_id)
        await self._engine.measure()
        self._use_our_clock()

    def _marker(self, which: int | None) -> EntryId | None:
        markers = [entry.id for entry in self._path if isinstance(entry.body, Condense | Truncation | Mask)]
        return None if which is None or not markers else markers[which % len(markers)]

    def _misbehave(self, fault: Any) -> None:
        for partner in self._partners.values():
            partner.fault = fault

    def _new_words(self, size: Any) -> str:
        self._words += 1
        return words(size, 100_000 + self._words, self._engine._runtime.model.info.window)

    # The model is asked again.

    async def _ask_again(self) -> None:
        """A next turn can be sent. Where the context is full for good, the user can get out of it by hand."""
        self._misbehave("")
        self._hang_up = True
        for partner in self._partners.values():
            partner.answers.clear()
            partner.too_long = 0
        for attempt in range(60):
            end = await self._say(f"Go on, please ({self._words}).")
            self._words += 1
            self._check_requests()
            if end is None:
                raise Broken("stuck", "no turn began")
            if end.reason == "completed":
                return
            if end.reason != "context_full" and "too long" not in end.message:
                raise Broken("stuck", f"the next turn {end.reason}: {end.message}")
            self.figures.on_event["context full"] += 1
            await self._make_room(end.message, attempt)
        raise Broken("stuck", "the context is full whatever is done")

    async def _make_room(self, message: str, attempt: int) -> None:
        """Do by hand what the user can: truncate where failing was chosen, else rewind; judge that it was needed."""
        options: ContextOptions = self._engine.settings.context
        if options.fallback == "error" and attempt < 5:
            try:
                await self._engine.truncate()
            except RooError:
                pass
            else:
                return
        if (problem := self._why_not_full()) is not None:
            raise Broken("stuck", f"{problem}: {message}")
        self.figures.on_event["context full for good"] += 1
        points = [point for point in await self._engine.read.rewind_points() if point.kind == "user"]
        if len(points) < 2 and len(self._path) < 3:
            raise Broken("stuck", f"not even one message fits: {message}")
        await self._engine.rewind(points[-2 if len(points) > 1 else -1].entry_id)

    def _why_not_full(self) -> str | None:
        """Say why a full context should not have been: something can be hidden still, or what must stay fits."""
        path, runtime = self._path, self._engine._runtime
        if runtime.settings.context.fallback != "error" and slide_window(path, COUNTER) is not None:
            return "truncation can still hide something"
        visible = effective_history(path)
        summaries = [message for message in visible if message.source == "summary"]
        lines = [message for message in visible if message.source == "truncation"]
        newest = next((at for at in reversed(range(len(visible))) if not _is_open_end(visible[at])), -1)
        stay = {id(message): message for message in (*visible[:2], *summaries[-1:], *lines, *visible[newest:])}
        figures, ratio = self._session.gauge.limits(), self._session.gauge.ratio()
        factor = max(ratio, next(iter(self._partners.values())).factor)
        needed = factor * COUNTER.count_request(runtime.system, specs(), stay.values())
        if needed < figures.allowed_tokens * 0.9:
            return f"what must stay takes {needed:,.0f} of {figures.allowed_tokens:,} tokens"
        return None

    # Laws.

    def _check_requests(self) -> None:
        """The API refused nothing but what was too long."""
        for partner in self._partners.values():
            self.figures.requests += len(partner.requests)
            self.figures.on_event["requests for a summary"] += partner.faults.total()
            self.figures.on_event["refused as too long"] += partner.overflows
            for fault, count in partner.faults.items():
                self.figures.on_event[f"fault {fault}" if fault else "summary written"] += count
            partner.requests.clear()
            partner.overflows = 0
            partner.faults.clear()
            if partner.refused:
                raise Broken("refused", "; ".join(partner.refused))

    def _check(self) -> None:
        self._check_requests()
        if self._errors:
            raise Broken("stuck", "; ".join(self._errors))
        self._check_entries()
        self._check_views()
        task, runtime = self._session.task, self._engine._runtime
        messages = build_request(task, runtime, (), 1).messages
        if lost := losses(effective_history(self._path), messages):
            raise Broken("lost", "; ".join(lost))

    def _check_entries(self) -> None:
        """Every entry there ever was is there unchanged, and whatever was typed is in the log or waits."""
        task = self._session.task
        entries = {entry.id: entry for entry in task.log.entries}
        for known in self._known.values():
            if entries.get(known.id) != known:
                raise Broken("lost", f"entry {known.id} was {known}, and is {entries.get(known.id)}")
        for entry in task.log.entries:
            if entry.id not in self._known:
                self._known[entry.id] = entry
                self._count_body(entry.body)
        if self._typed:
            kept = {entry.body.words for entry in entries.values() if isinstance(entry.body, UserMessage)}
            kept.update(item.words for item in task.queue)
            for text in self._typed:
                if text.strip() and text not in kept:
                    raise Broken("lost", f"what was typed is nowhere: {text[:60]!r}")
            self._typed.clear()

    def _count_body(self, body: Body) -> None:
        on_event = self.figures.on_event
        for block in getattr(body, "blocks", ()):
            signed = " signed" if isinstance(block, Thinking) and block.signature else ""
            on_event[f"block {block.type}{signed}"] += 1
            if isinstance(block, ToolResult) and not isinstance(block.content, str):
                on_event["block image in a result"] += any(isinstance(part, Image) for part in block.content)
        if isinstance(body, AssistantMessage) and len(tool_uses(body.blocks)) > 1:
            on_event["answer with parallel calls"] += 1
        match body:
            case Condense(figures=figures):
                on_event[f"condense {figures.trigger} {figures.shape or 'of another program'}"] += 1
                on_event[f"by strategy {figures.strategy}"] += 1
            case Truncation(figures=figures):
                on_event[f"truncation {figures.trigger}"] += 1
            case Mask(figures=figures):
                on_event[f"mask {figures.trigger}"] += 1
                on_event[f"by strategy {figures.strategy}"] += 1
            case CondenseFailed(trigger=trigger, cancelled=cancelled):
                on_event[f"condense {'cancelled' if cancelled else 'failed'} {trigger}"] += 1
            case Toggle(on=on):
                on_event["marker redone" if on else "marker undone"] += 1
            case AssistantMessage(interrupted=True):
                on_event["answer interrupted"] += 1
            case UserMessage(calls=calls) if any(call.synthetic for call in calls):
                on_event["call closed after a crash or cancel"] += 1

    def _check_views(self) -> None:
        """Every message of the path is visible or hidden by a marker in force; a head shows what it always showed."""
        path = self._path
        visible = effective_history(path)
        shown = {message.entry_id for message in visible if message.source == "entry"}
        hidden = _hidden(path)
        for entry in path:
            says = isinstance(entry.body, UserMessage | AssistantMessage) and entry.body.blocks
            if says and (entry.id in shown) == (entry.id in hidden):
                state = "both shown and hidden" if entry.id in shown else "neither shown nor hidden"
                raise Broken("lost", f"entry {entry.id} is {state}")
        head = self._session.task.log.head
        if self._seen.setdefault(head, visible) != visible:
            raise Broken("lost", f"at entry {head} the model sees something else than before")

    async def _check_guards(self) -> None:
        """With new content and time gone by, nothing but what cannot be helped holds an automatic condense back."""
        session, runtime = self._session, self._engine._runtime
        figures = session.gauge.limits()
        newest = max((entry.id for entry in self._path), default=0)
        more = Entry(newest + 1, self._session.task.log.head, 0, AssistantMessage(()))
        self._now_s += 600
        here = inputs((*self._path, more), COUNTER, system=runtime.system, tools=specs(), trigger="automatic")
        tokens = max(session.gauge.tokens, figures.trigger_tokens) + figures.window // 5
        here = replace(here, limits=figures, context_tokens=tokens, ratio=session.gauge.ratio())
        objection = session.context._guards.objection(here, COUNTER)
        if objection and not objection.startswith("The system prompt"):
            raise Broken("stuck", f"condensing is held back for ever: {objection}")


class _Listener(logging.Handler):
    """Collects what the program says went wrong that should not have."""

    def __init__(self, errors: list[str]) -> None:
        super().__init__(logging.ERROR)
        self._errors = errors

    def emit(self, record: logging.LogRecord) -> None:
        error = record.exc_info[1] if record.exc_info else None
        if not isinstance(error, Died):
            self._errors.append(f"{record.getMessage()}: {error!r}")


def _hidden(path: Sequence[Entry]) -> set[EntryId]:
    """Return what the markers in force hide, by the definition of markers alone."""
    hides: dict[EntryId, tuple[EntryId, ...]] = {}
    on: dict[EntryId, bool] = {}
    for entry in path:
        if isinstance(entry.body, Condense | Truncation):
            hides[entry.id], on[entry.id] = entry.body.hides, True
        elif isinstance(entry.body, Toggle):
            on[entry.body.marker_id] = entry.body.on
    return {hidden for marker, ids in hides.items() if on[marker] for hidden in ids}


def _is_open_end(message: Visible) -> bool:
    return message.role == "user" and not tool_results(message.blocks)


def _summary(hides: tuple[EntryId, ...]) -> tuple[Any, ...]:
    return (Text(f"A summary of {len(hides)} messages, written elsewhere."),)


def _partners(workspace: Path, setting: Setting) -> dict[str, Partner]:
    overhead = COUNTER.count_request(system_prompt(workspace), specs())
    window = round((overhead * max(1.0, setting.factor) + setting.window) * 1.4)
    model, other = setting.model(window), setting.model(window - setting.window // 4, other=True)
    return {
        "default": Partner(info=model, counter=COUNTER, factor=setting.factor),
        "other": Partner(info=other, counter=COUNTER, factor=setting.factor),
    }


def _settings(workspace: Path, setting: Setting, checkpoints: bool) -> Settings:
    file = workspace.parent / "settings.toml"
    file.unlink(missing_ok=True)
    overrides = {f"context.{name}": getattr(setting, name) for name in _OF_CONTEXT}
    overrides |= {"context.threshold_percent": setting.percent, "checkpoints.enabled": checkpoints}
    overrides |= {"profiles.other.model": "other", "profiles.default.model": "default"}
    return settings_room.load(file=file, workspace=workspace, environ={}, overrides=overrides)
