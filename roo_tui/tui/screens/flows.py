"""Ways through other screens: each opens one, waits for what was decided there, and asks the engine for it.

Every screen is imported where it is opened.
"""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any, Literal

from roo_tui.domain.errors import RooError, WouldOverwrite
from roo_tui.engine_api import EngineApi, SettingsView
from roo_tui.prompt_files import render
from roo_tui.tui import strings

if TYPE_CHECKING:
    from roo_tui.domain.ids import EntryId
    from roo_tui.tui.screens.chat import ChatScreen


class Flows:
    """The flows of the chat; what the engine refuses is raised as `RooError`."""

    def __init__(self, chat: ChatScreen) -> None:
        self._chat = chat

    @property
    def _engine(self) -> EngineApi:
        if self._chat.engine is None:
            raise RooError(strings.STARTING)
        return self._chat.engine

    async def _ask(self, screen: Any) -> Any:
        """Open a screen and return what it was dismissed with."""
        return await self._chat.app.push_screen_wait(screen)

    # Context

    async def context(self) -> None:
        from roo_tui.tui.screens.context import ContextScreen

        engine, read = self._engine, self._engine.read

        async def pin(entry_id: EntryId, on: bool) -> tuple[EntryId, ...]:
            await engine.pin(entry_id, on=on)
            return read.pinned()

        choice = await self._ask(ContextScreen(await read.context_breakdown(), read.context_use(), read.pinned(), pin))
        if choice == "condense":
            await engine.condense()
        elif choice == "mask":
            await engine.condense(strategy="lossless")
        elif choice == "forecast":
            await self.forecast("")
        elif choice == "compare":
            await self._compare()
        elif choice is not None:
            await self._show_entry(choice)

    async def _compare(self) -> None:
        """Show what each strategy would free, and condense with the chosen one; without a choice, back to the bars."""
        from roo_tui.tui.screens.compare import CompareScreen

        engine, task_id = self._engine, self._engine.read.header().task_id
        way = await self._ask(CompareScreen(lambda: engine.compare_strategies(task_id)))
        if way is None:
            await self.context()
        else:
            await engine.condense(strategy=way.strategy, preset=way.preset)

    async def forecast(self, instructions: str) -> None:
        """Show what a condense would come to before it is made."""
        from roo_tui.tui.screens.forecast import ForecastScreen

        if await self._ask(ForecastScreen(await self._engine.read.forecasts())):
            await self._engine.condense(instructions)

    async def find(self, query: str) -> None:
        from roo_tui.tui.screens.find import FindScreen

        found = await self._ask(FindScreen(self._engine.read.find, query))
        if found is not None and not found.on_path:
            self._chat.tell(strings.FIND_OTHER_BRANCH, "warning")
        elif found is not None:
            await self._show_entry(found.entry_id)

    async def _show_entry(self, entry_id: EntryId) -> None:
        """Bring the first row of an entry into view and put the cursor on it."""
        rows = [row for row in await self._engine.read.rows() if row.entry_id <= entry_id]
        if rows:
            # A tool's result has no row of its own: it is shown in that of its call, the last one before it.
            last = max(row.entry_id for row in rows)
            at_it = [row.key for row in rows if row.entry_id == last]
            self._chat.transcript.scroll_to_key(at_it[0] if last == entry_id else at_it[-1])
            self._chat.transcript.focus()

    async def rewind(self) -> None:
        from roo_tui.tui.screens.rewind import RewindScreen

        engine = self._engine
        choice = await self._ask(RewindScreen(await engine.read.rewind_points(), engine.read.rewind_preview))
        if choice is not None:
            await engine.rewind(
                choice.entry_id, conversation=choice.conversation, files=choice.files, overwrite=choice.overwrite
            )
            self._chat.tell(strings.REWOUND)

    async def undo_or_redo(self, which: Literal["undo", "redo"]) -> None:
        """Files that the person changed are overwritten only after a question."""
        engine = self._engine
        call = engine.undo if which == "undo" else engine.redo
        try:
            await call()
        except WouldOverwrite as refused:
            from roo_tui.tui.screens.confirm import ConfirmScreen

            screen = ConfirmScreen(
                strings.REWIND_CONFLICT_TITLE,
                str(refused),
                yes=strings.REWIND_CONFLICT_YES,
                no=strings.REWIND_CONFLICT_NO,
            )
            if await self._ask(screen):
                await call(overwrite=True)

    # Tasks

    async def choose_task(self) -> None:
        from roo_tui.tui.numbers import now_ms
        from roo_tui.tui.screens.tasks import NEW, TasksScreen

        engine = self._engine
        header = engine.read.header()
        screen = TasksScreen(
            await engine.read.tasks(), now_ms=now_ms(), current=header.task_id, workspace=header.workspace
        )
        choice = await self._ask(screen)
        if choice == NEW:
            await engine.new_task()
        elif choice is not None and choice != header.task_id:
            await engine.open_task(choice)

    # Program

    async def choose_profile(self, name: str) -> None:
        engine = self._engine
        if not name:
            from roo_tui.tui.screens.choose import ChooseScreen

            settings = engine.settings
            choices = [(profile.name, f"{profile.provider}  {profile.model}") for profile in settings.profiles.values()]
            name = await self._ask(ChooseScreen(strings.SETTINGS_ACTIVE_PROFILE, choices, settings.profile))
        if name:
            await engine.choose_profile(name)
            self._chat.tell(strings.PROFILE_CHOSEN.format(name=name))

    async def choose_theme(self) -> None:
        from roo_tui.tui.screens.choose import ChooseScreen

        app = self._chat.app
        themes = sorted((theme.name, "") for theme in app.available_themes.values())
        name = await self._ask(ChooseScreen(strings.THEME_TITLE, themes, app.theme))
        if name:
            self._chat.post_message(self._chat.ThemeChosen(name))
            if self._chat.engine is not None:
                await self._chat.engine.change_settings({"appearance.theme": name})

    async def settings(self) -> None:
        from roo_tui.tui.screens.settings import SettingsScreen

        engine, chat = self._engine, self._chat
        prompt = await asyncio.to_thread(render, "condense/request")

        async def change(changes: dict[str, object]) -> SettingsView:
            await engine.change_settings(changes)
            return engine.settings

        screen = SettingsScreen(
            engine.settings,
            engine.read.context_use(),
            sorted(chat.app.available_themes),
            change,
            condense_prompt=prompt,
        )
        changes = await self._ask(screen)
        if not changes:
            return
        await engine.change_settings(changes)
        if theme := changes.get("appearance.theme"):
            chat.post_message(chat.ThemeChosen(theme))
        chat.tell(strings.SETTINGS_SAVED)

    async def help(self) -> None:
        from roo_tui.tui.screens.help import HelpScreen

        focused = self._chat.focused
        chain = [] if focused is None else list(focused.ancestors_with_self)
        about = next((node.HELP for node in chain if getattr(node, "HELP", None)), "")
        await self._ask(HelpScreen(about or ""))

    async def notices(self) -> None:
        from roo_tui.tui.screens.notices import NoticesScreen

        await self._ask(NoticesScreen(self._chat.notices.said))

    async def offer_demo(self, reason: str) -> None:
        from roo_tui.tui.screens.no_key import NoKeyScreen

        if await self._ask(NoKeyScreen(reason)) == "demo":
            self._chat.post_message(self._chat.DemoWanted())
        else:
            await self._chat.app.action_quit()
