"""Commands that open a screen: wait for the user's decision there, and pass it to the engine.

Every screen is imported where it is opened. What the engine refuses is raised as `RooError`.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING

from roo_tui.commands import notice_of
from roo_tui.domain.errors import RooError, WouldOverwrite
from roo_tui.engine_api import EngineApi, SettingsChanges, SettingsView
from roo_tui.prompt_files import render
from roo_tui.tui import strings
from roo_tui.tui.screens.chat.port import ChatPort

if TYPE_CHECKING:  # only a name: importing entries before the first frame would delay it
    from roo_tui.domain.ids import EntryId


def _ready(chat: ChatPort) -> EngineApi:
    if chat.engine is None:
        raise RooError(strings.STARTING)
    return chat.engine


# Context


async def show_context(chat: ChatPort, _: str = "") -> None:
    """Show what fills the context window, and run the action chosen there."""
    from roo_tui.domain.previews import CondenseRequest
    from roo_tui.tui.screens.context import ContextScreen

    engine = _ready(chat)
    read = engine.read

    async def pin(entry_id: EntryId, on: bool) -> tuple[EntryId, ...]:
        """Pin or unpin an entry; return the pinned ones."""
        await engine.pin(entry_id, on=on)
        return read.pinned()

    choice = await chat.ask(ContextScreen(await read.context_breakdown(), read.context_use(), read.pinned(), pin))
    if choice == "condense":
        await engine.condense()
    elif choice == "mask":
        await engine.condense(CondenseRequest(strategy="lossless"))
    elif choice == "preview":
        await preview_condense(chat, "")
    elif choice == "compare":
        await _compare(chat, engine)
    elif choice is not None:
        await _reveal(chat, choice)


async def _compare(chat: ChatPort, engine: EngineApi) -> None:
    """Show what each strategy would free, and condense with the chosen one; without a choice, back to the context."""
    from roo_tui.domain.previews import CondenseRequest
    from roo_tui.tui.screens.condense import CompareScreen

    task_id = engine.read.header().task_id
    chosen = await chat.ask(CompareScreen(lambda: engine.compare_strategies(task_id)))
    if chosen is None:
        await show_context(chat)
    else:
        await engine.condense(CondenseRequest(strategy=chosen.strategy, preset=chosen.preset))


async def preview_condense(chat: ChatPort, instructions: str) -> None:
    """Show what a condense would do before it runs."""
    from roo_tui.domain.previews import CondenseRequest
    from roo_tui.tui.screens.condense import PreviewScreen

    engine, request = _ready(chat), CondenseRequest(instructions)
    if await chat.ask(PreviewScreen(await engine.preview_condense(request))):
        await engine.condense(request)


async def find(chat: ChatPort, query: str) -> None:
    """Search the task and go to the chosen hit."""
    from roo_tui.tui.screens.find import FindScreen

    found = await chat.ask(FindScreen(_ready(chat).read.find, query))
    if found is not None and not found.on_path:
        chat.tell(strings.FIND_OTHER_BRANCH, "warning")
    elif found is not None:
        await _reveal(chat, found.entry_id)


async def _reveal(chat: ChatPort, entry_id: EntryId) -> None:
    """Bring the first row of an entry into view."""
    rows = [row for row in await _ready(chat).read.rows() if row.entry_id <= entry_id]
    if rows:
        # A tool's result has no row of its own: it is shown in that of its call, the last one before it.
        last = max(row.entry_id for row in rows)
        at_it = [row.key for row in rows if row.entry_id == last]
        chat.reveal_row(at_it[0] if last == entry_id else at_it[-1])


async def rewind(chat: ChatPort, _: str) -> None:
    """Rewind to the chosen rewind point."""
    from roo_tui.tui.screens.rewind import RewindScreen

    engine = _ready(chat)
    choice = await chat.ask(RewindScreen(await engine.read.rewind_points(), engine.read.rewind_preview))
    if choice is not None:
        await engine.rewind(
            choice.entry_id, conversation=choice.conversation, files=choice.files, overwrite=choice.overwrite
        )
        chat.tell(notice_of("rewind"))


async def undo(chat: ChatPort, _: str) -> None:
    """Undo the newest reduction or rewind."""
    await _confirm_overwrite(chat, _ready(chat).undo)


async def redo(chat: ChatPort, _: str) -> None:
    """Redo what was undone last."""
    await _confirm_overwrite(chat, _ready(chat).redo)


async def _confirm_overwrite(chat: ChatPort, change: Callable[..., Awaitable[None]]) -> None:
    """Make a change; overwrite files that the user changed only after asking."""
    try:
        await change()
    except WouldOverwrite as refused:
        from roo_tui.tui.screens.small_dialogs import ConfirmScreen

        question = ConfirmScreen(
            strings.REWIND_CONFLICT_TITLE,
            str(refused),
            yes=strings.REWIND_CONFLICT_YES,
            no=strings.REWIND_CONFLICT_NO,
        )
        if await chat.ask(question):
            await change(overwrite=True)


# Tasks


async def choose_task(chat: ChatPort, _: str) -> None:
    """Open another task, or start a new one."""
    from roo_tui.tui.numbers import now_ms
    from roo_tui.tui.screens.tasks import NEW, TasksScreen

    engine = _ready(chat)
    header = engine.read.header()
    screen = TasksScreen(await engine.read.tasks(), now_ms=now_ms(), current=header.task_id, workspace=header.workspace)
    choice = await chat.ask(screen)
    if choice == NEW:
        await engine.new_task()
    elif choice is not None and choice != header.task_id:
        await engine.open_task(choice)


# Program


async def choose_profile(chat: ChatPort, name: str) -> None:
    """Use the named profile, or one chosen from a list."""
    engine = _ready(chat)
    if not name:
        from roo_tui.tui.screens.small_dialogs import ChooseScreen

        settings = engine.settings
        choices = [(profile.name, f"{profile.provider}  {profile.model}") for profile in settings.profiles.values()]
        name = await chat.ask(ChooseScreen(strings.SETTINGS_ACTIVE_PROFILE, choices, settings.profile)) or ""
    if name:
        await engine.choose_profile(name)
        chat.tell(strings.PROFILE_CHOSEN.format(name=name))


async def choose_theme(chat: ChatPort, _: str) -> None:
    """Show another theme and remember it."""
    from roo_tui.tui.screens.small_dialogs import ChooseScreen

    current, *_others = chat.themes
    names = [(name, "") for name in sorted(chat.themes)]
    name = await chat.ask(ChooseScreen(strings.THEME_TITLE, names, current))
    if name:
        chat.show_theme(name)
        if chat.engine is not None:
            await chat.engine.change_settings({"appearance.theme": name})


async def edit_settings(chat: ChatPort, _: str) -> None:
    """Save the settings changed in the form."""
    from roo_tui.tui.screens.settings import SettingsScreen

    engine = _ready(chat)
    prompt = await asyncio.to_thread(render, "condense/request")

    async def change(changes: SettingsChanges) -> SettingsView:
        """Save at once; return the new settings."""
        await engine.change_settings(changes)
        return engine.settings

    screen = SettingsScreen(
        engine.settings, engine.read.context_use(), sorted(chat.themes), change, condense_prompt=prompt
    )
    changes = await chat.ask(screen)
    if not changes:
        return
    await engine.change_settings(changes)
    if theme := changes.get("appearance.theme"):
        chat.show_theme(str(theme))
    chat.tell(notice_of("settings"))


async def show_help(chat: ChatPort, _: str) -> None:
    """Show keys and commands."""
    from roo_tui.tui.screens.help import HelpScreen

    await chat.ask(HelpScreen(chat.help_of_focus))


async def show_notices(chat: ChatPort, _: str) -> None:
    """Show the recent notices."""
    from roo_tui.tui.screens.help import NoticesScreen

    await chat.ask(NoticesScreen(chat.past_notices))


async def offer_demo(chat: ChatPort, reason: str) -> None:
    """Say that there is no API key; start the demo or quit."""
    from roo_tui.tui.screens.small_dialogs import NoKeyScreen

    if await chat.ask(NoKeyScreen(reason)) == "demo":
        chat.start_demo()
    else:
        await chat.quit()
