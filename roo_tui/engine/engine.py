"""The engine: one workspace, at most one open task, and every command on them."""

import asyncio
import logging
from collections.abc import Callable, Mapping
from pathlib import Path

from roo_tui import paths
from roo_tui import settings as settings_room
from roo_tui.context.history import Log, effective_history, pin
from roo_tui.context.window import Calibration, TokenCounter
from roo_tui.domain.entries import Entry
from roo_tui.domain.errors import CommandRefused, Interrupted, RooError, SettingsError
from roo_tui.domain.events import HeaderChanged, TaskOpened
from roo_tui.domain.ids import EntryId
from roo_tui.domain.previews import CondensePreview, CondenseRequest
from roo_tui.engine import exchange as importing
from roo_tui.engine.bus import Bus, EventStream
from roo_tui.engine.jobs import Jobs
from roo_tui.engine.model_limits import LEARNED_KEY, LearnedLimits
from roo_tui.engine.models import DEMO_PROFILE, Models
from roo_tui.engine.reader import Reader
from roo_tui.engine.runtime import Runtime
from roo_tui.engine.session import Session, open_session
from roo_tui.engine.strategy_comparison import compare
from roo_tui.engine.turn import run_turns
from roo_tui.engine.undo import redo, undo
from roo_tui.llm.options import Profile
from roo_tui.llm.protocol import Model
from roo_tui.settings import Settings
from roo_tui.store import open_store
from roo_tui.store.checkpoints import Checkpoints
from roo_tui.tools.registry import specs
from roo_tui.workspace.files import Workspace

log = logging.getLogger(__name__)

_CALIBRATION_KEY = "calibration"

_AS_SET = CondenseRequest()


class Engine:
    """A coding agent without a screen.

    A command returns once what it starts is acknowledged, not when that is done; `idle` waits for it. Events
    (`subscribe`) say what happens, and `read` has the current state. Errors the user can fix are `RooError`s.

    `models` builds the adapter of a profile; None uses the real providers (or the demo). With `headless`, no user is
    there and every denial is one by policy.
    """

    def __init__(
        self,
        workspace: Path,
        settings: Settings,
        *,
        demo: bool = False,
        auto_approve: bool = False,
        headless: bool = False,
        models: Callable[[Profile], Model] | None = None,
    ) -> None:
        self._workspace = workspace
        self._demo = demo
        built = Models(models, facts=settings.models)
        self._jobs = Jobs()
        self._session: Session | None = None
        self._runtime = Runtime(
            bus=Bus(),
            store=open_store(paths.database_file()),
            settings=settings,
            model=built.of(DEMO_PROFILE if demo else settings.active),
            models=built,
            workspace=Workspace(workspace),
            checkpoints=Checkpoints(workspace, paths.checkpoints_dir()),
            counter=TokenCounter(),
            calibration=Calibration(),
            auto_approve=auto_approve,
            headless=headless,
        )
        self.read = Reader(self._runtime, lambda: self._session)

    # Start and end.

    async def start(self) -> None:
        """Load what tasks need. Await it before any other command."""
        saved = await self._runtime.store.get_value(_CALIBRATION_KEY)
        if saved:
            self._runtime.calibration = Calibration.from_json(saved)
        self._runtime.learned = LearnedLimits(await self._runtime.store.get_value(LEARNED_KEY))
        await self._runtime.read_project()

    async def close(self) -> None:
        """Stop what runs, save what was learnt, and release the task and the store."""
        self.cancel()
        await self.idle()
        await self._close_session()
        await self._runtime.store.set_value(_CALIBRATION_KEY, self._runtime.calibration.to_json())
        await self._runtime.store.set_value(LEARNED_KEY, self._runtime.learned.to_json())
        await self._runtime.workspace.commands.kill_all()
        await self._runtime.outliner.close()
        await self._runtime.models.close()
        await self._runtime.store.close()
        self._runtime.bus.close()

    def subscribe(self) -> EventStream:
        """Return a stream of every event from now on."""
        return self._runtime.bus.subscribe()

    async def warm_up(self) -> None:
        """Load the model's SDK off the event loop, so that the first request is not delayed."""
        await self._runtime.model.warm_up()

    async def measure(self) -> None:
        """Count the context of the open task and announce it. Loads the vocabulary and the tools off the event loop."""
        await asyncio.to_thread(specs)
        if self._session is not None:
            await self._session.gauge.refresh()

    @property
    def settings(self) -> Settings:
        """The settings in force."""
        return self._runtime.settings

    @property
    def busy(self) -> bool:
        """Whether a turn or a condense is running."""
        return self._jobs.busy

    async def idle(self) -> None:
        """Wait until nothing runs."""
        await self._jobs.idle()

    # Tasks.

    async def new_task(self) -> str:
        """Open a new, empty task and return its id."""
        info = await self._runtime.store.create_task(str(self._workspace))
        return await self.open_task(info.id)

    async def open_task(self, task_id: str) -> str:
        """Open a task by its id or a unique beginning of it; `measure` counts its tokens.

        Raises:
            TaskNotFound: no task, or more than one, matches the id.
            CommandRefused: something is running.
        """
        self._require_idle()
        info = await self._runtime.store.find_task(task_id)
        await self._close_session()
        self._session = await open_session(self._runtime, info.id)
        self._runtime.bus.emit(TaskOpened(info.id))
        self._header_changed()
        self._session.checkpointing.start()
        return info.id

    async def latest_task(self) -> str | None:
        """Return the workspace's newest task that has entries, None if there is none."""
        tasks = await self._runtime.store.tasks(workspace=str(self._workspace))
        return next((task.id for task in tasks if task.entries), None)

    async def import_file(self, path: Path, form: str = "auto") -> str:
        """Create a task from a file of messages or a Roo Code task folder and return its id; the task is not opened.

        Raises:
            CommandRefused: the format is unknown.
            ExchangeError: the file is not of this format.
        """
        found = await asyncio.to_thread(importing.read_import, path, form)
        info = await self._runtime.store.create_task(str(self._workspace), title=found.title)
        await self._runtime.store.append(info.id, found.bodies, parent=None, at_ms=found.times)
        return info.id

    # Conversation.

    async def submit(self, message: str) -> None:
        """Send a user message, or queue it while a turn is running or others are queued; return once it is on disk.

        A blank message sends what is queued, or sends a failed request again; if there is neither, nothing happens.
        Queued messages are sent in their order.

        Raises:
            RooError: the message could not be stored, or was interrupted before that; nothing was sent.
        """
        session = self._open()
        session.task.require_writable()
        if message.strip() and (self.busy or session.task.queue):
            item = await self._runtime.store.enqueue(session.task.id, message)
            session.task.queue.append(item)
            session.task.queue_changed()
            # Nothing may be running: the job may have ended meanwhile, and will not look at the queue again.
            if not self.busy:
                self._jobs.start(run_turns(self._runtime, session, "", lambda _: None))
            return
        if self.busy:
            return
        if not message.strip() and not session.task.queue and not effective_history(session.task.log.path()):
            return
        stored: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        job = self._jobs.start(self._turns(session, message, stored))
        await asyncio.wait({job, stored}, return_when=asyncio.FIRST_COMPLETED)
        if not stored.done():
            raise Interrupted("Interrupted before the message was sent.")
        stored.result()

    async def edit_queued(self, item_id: int, message: str) -> None:
        """Replace the text of a queued message."""
        task = self._open().task
        await self._runtime.store.edit_queued(task.id, item_id, message)
        task.queue = [type(item)(item.id, message) if item.id == item_id else item for item in task.queue]
        task.queue_changed()

    async def remove_queued(self, item_id: int) -> None:
        """Remove a message from the queue."""
        task = self._open().task
        await self._runtime.store.remove_queued(task.id, item_id)
        task.queue = [item for item in task.queue if item.id != item_id]
        task.queue_changed()

    def answer(self, question_id: str, option_id: str, text: str = "") -> None:
        """Answer a question; nothing happens if it is no longer open."""
        self._runtime.questions.answer(question_id, option_id, text)

    def cancel(self) -> bool:
        """Interrupt the running turn or condense, keeping what was streamed; return whether one was running."""
        return self._jobs.cancel()

    # Context.

    async def condense(self, request: CondenseRequest = _AS_SET) -> None:
        """Condense now, or at the next safe boundary of the running turn. What was previewed is what runs.

        Raises:
            CommandRefused: a condense is already running.
        """
        session = self._open()
        session.task.require_writable()
        if session.context.condensing:
            raise CommandRefused("A condense is already running. Esc cancels it.")
        if self.busy:
            session.context.ask_for_condense(request)
            return
        self._jobs.start(self._condense(session, request))

    async def preview_condense(self, request: CondenseRequest = _AS_SET) -> CondensePreview:
        """Return what a condense would do now, without asking a model or changing anything.

        Raises:
            CommandRefused: there is nothing to condense, or the strategy is unknown.
        """
        self._require_idle()
        return await self._open().context.preview(request, specs())

    async def compare_strategies(self, source: str, *, ask_model: bool = False) -> list[CondensePreview]:
        """Return what each strategy would do to a file of messages or a stored task (by id), without changing anything.

        Raises:
            ExchangeError: the file is not a list of messages.
            TaskNotFound: there is no such file, and no task with this id.
        """
        if Path(source).is_file():
            from roo_tui.store.exchange.messages import read_messages

            bodies = await asyncio.to_thread(read_messages, Path(source))
            path = tuple(Entry(number, number - 1 or None, 0, body) for number, body in enumerate(bodies, 1))
        else:
            stored = await self._runtime.store.load((await self._runtime.store.find_task(source)).id)
            path = Log(stored.entries, stored.head).path()
        if not path:
            raise CommandRefused(f"{source} contains no messages.")
        return await compare(self._runtime, path, ask_model=ask_model)

    async def truncate(self) -> None:
        """Hide the oldest half of the visible messages, without a summary."""
        self._require_idle()
        await self._open().context.truncate()

    async def undo(self, marker_id: EntryId | None = None, *, overwrite: bool = False) -> None:
        """Undo a condense, truncation or mask, or (without an id) the newest of these or of the rewinds.

        Raises:
            CommandRefused: there is nothing to undo, or a later marker covers this one (the message names it).
            WouldOverwrite: undoing a rewind would overwrite the user's changes, and `overwrite` is not set.
        """
        self._require_idle()
        await undo(self._open(), marker_id, overwrite=overwrite)

    async def redo(self, marker_id: EntryId | None = None, *, overwrite: bool = False) -> None:
        """Redo what was undone last, or (with an id) this marker.

        Raises:
            CommandRefused: nothing was undone, or a later marker covers this one.
            WouldOverwrite: redoing a rewind would overwrite the user's changes, and `overwrite` is not set.
        """
        self._require_idle()
        await redo(self._open(), marker_id, overwrite=overwrite)

    async def rewind(
        self, entry_id: EntryId, *, conversation: bool = True, files: bool = False, overwrite: bool = False
    ) -> None:
        """Rewind the conversation, the files, or both to a rewind point (`read.rewind_points`); all or nothing.

        Raises:
            CommandRefused: there is no such point, or no checkpoint to restore the files from.
            WouldOverwrite: it would overwrite the user's changes, and `overwrite` is not set.
        """
        self._require_idle()
        session = self._open()
        await session.context.forget_background()
        await session.rewinding.rewind(entry_id, conversation=conversation, files=files, overwrite=overwrite)
        await session.gauge.refresh()
        self._header_changed()

    async def append_receipt(self, marker_id: EntryId) -> None:
        """Add the receipt of a condense to the conversation: what the log knows and the summary leaves out.

        Raises:
            CommandRefused: the entry is not a condense on the path, or its receipt is empty.
        """
        self._require_idle()
        await self._open().context.append_receipt(marker_id)

    async def pin(self, entry_id: EntryId, *, on: bool = True) -> None:
        """Pin an entry, so that every condense keeps its text word for word, or remove its pin.

        Raises:
            CommandRefused: there is no such message, or nothing would change.
        """
        task = self._open().task
        await task.record(pin(task.log.path(), entry_id, on=on))

    # Settings.

    async def choose_profile(self, name: str) -> None:
        """Use another profile from the next request on.

        Raises:
            SettingsError: no profile has this name.
        """
        if name not in self.settings.profiles:
            known = ", ".join(self.settings.profiles)
            raise SettingsError(f"There is no profile “{name}”. Profiles: {known}.")
        await self.change_settings({"profile": name})

    async def change_settings(self, changes: Mapping[str, object]) -> None:
        """Save settings by dotted key and use them from the next request on.

        If the history does not fit into the window of the new model, the current one condenses it first.
        """
        chosen = await asyncio.to_thread(settings_room.change, self.settings, changes)
        self._runtime.models.use_facts(chosen.models)
        model = self._runtime.model if self._demo else self._runtime.models.of(chosen.active)
        if self._session is not None and not self.busy:
            await self._session.gauge.refresh()
            if not self._session.gauge.would_fit(chosen.active, model.info):
                await self._jobs.start(self._session.context.condense_before_switch(specs()))
        self._runtime.settings, self._runtime.model = chosen, model
        if self._session is not None:
            await self._session.gauge.refresh()
        self._header_changed()

    # Internal.

    def _open(self) -> Session:
        if self._session is None:
            raise CommandRefused("No task is open.")
        return self._session

    async def _close_session(self) -> None:
        if self._session is not None:
            await self._session.close()
            self._session = None

    def _require_idle(self) -> None:
        if self.busy:
            raise CommandRefused("The agent is working. Press Esc first.")

    async def _condense(self, session: Session, request: CondenseRequest) -> None:
        """Condense, then send the messages that were queued meanwhile."""
        waiting = {item.id for item in session.task.queue}
        await session.context.condense(request, specs())
        self._header_changed()
        if any(item.id not in waiting for item in session.task.queue):
            await run_turns(self._runtime, session, "", lambda _: None)

    async def _turns(self, session: Session, message: str, stored: "asyncio.Future[None]") -> None:
        def acknowledge(error: RooError | None) -> None:
            """Let `submit` return, or raise the error."""
            if stored.done():
                return
            if error is None:
                stored.set_result(None)
            else:
                stored.set_exception(error)

        await run_turns(self._runtime, session, message, acknowledge)

    def _header_changed(self) -> None:
        header = self.read.header()
        self._runtime.bus.emit(HeaderChanged(header.task_id, header))
