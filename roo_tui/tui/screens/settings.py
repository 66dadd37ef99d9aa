"""The settings screen: a form built from `settings.fields()`. It edits a draft, which is saved whole or discarded."""

from collections.abc import Awaitable, Callable, Iterable, Sequence
from dataclasses import replace
from typing import ClassVar

from textual import on, work
from textual.binding import Binding, BindingType
from textual.containers import Horizontal, Vertical, VerticalScroll
from textual.widget import Widget
from textual.widgets import Button, Static

from roo_tui.domain.errors import RooError
from roo_tui.domain.views import ContextUse
from roo_tui.engine_api import SettingsView
from roo_tui.plain_text import clean
from roo_tui.settings import DEFAULT_PROFILE, Field, Profile, fields
from roo_tui.tui import strings
from roo_tui.tui.numbers import counted, exact
from roo_tui.tui.screens.field_row import FieldRow
from roo_tui.tui.screens.page import Page

Changes = dict[str, object]
ChangeSettings = Callable[[Changes], Awaitable[SettingsView]]
"""Saves changes at once and returns the settings as they are then. Raises RooError."""


class SettingsScreen(Page[Changes | None]):
    """Dismisses with the changed settings by dotted key, None if nothing is to be saved."""

    TITLE_TEXT = strings.SETTINGS_TITLE
    KEYS_TEXT = strings.SETTINGS_KEYS
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("ctrl+s", "save", strings.SETTINGS_TITLE, show=False, priority=True),
        Binding("pagedown", "page(1)", show=False, priority=True),
        Binding("pageup", "page(-1)", show=False, priority=True),
    ]

    def __init__(
        self,
        settings: SettingsView,
        use: ContextUse,
        themes: Sequence[str],
        change: ChangeSettings,
        *,
        condense_prompt: str = "",
    ) -> None:
        super().__init__()
        self._settings = settings
        self._use = use
        self._themes = ("", *themes)
        self._change = change
        self._condense_prompt = condense_prompt
        self._draft: Changes = {}
        self._problems: dict[str, str] = {}

    def body(self) -> Iterable[Widget]:
        """Yield the form."""
        rows: list[Widget] = []
        if self._settings.problems:
            text = "\n".join(f"• {clean(problem)}" for problem in self._settings.problems)
            rows.append(Static(strings.SETTINGS_PROBLEMS, classes="section -problem", markup=False))
            rows.append(Static(text, classes="problems", markup=False))
        for head in _sections():
            title = strings.SETTINGS_SECTION.get(head, head.capitalize())
            rows.append(Static(title, classes="section", markup=False))
            if head == "profile":
                rows.append(Vertical(*self._profile_rows(), id="profile"))
            else:
                rows += [self._row(field) for field in fields() if field.key.startswith(f"{head}.")]
        yield VerticalScroll(*rows, id="form", can_focus=False)

    @property
    def _profile(self) -> str:
        """The profile shown: the active one once the draft is saved."""
        return str(self._draft.get("profile", self._settings.profile))

    def _profile_rows(self) -> Iterable[Widget]:
        """Yield the choice of the profile, what can be done with profiles, and the settings of the one shown."""
        yield from (self._row(field) for field in fields() if field.key == "profile")
        yield Horizontal(
            Button(strings.PROFILE_NEW, id="profile-new", compact=True),
            Button(strings.PROFILE_COPY, id="profile-copy", compact=True),
            Button(
                strings.PROFILE_DELETE, id="profile-delete", compact=True, disabled=self._profile == DEFAULT_PROFILE
            ),
            classes="profile-buttons",
        )
        yield from (self._row(field) for field in fields() if field.key.startswith("profiles."))

    def _row(self, field: Field) -> FieldRow:
        key = field.key.replace("*", self._profile)
        if key == "profile":
            field = replace(
                field, choices=tuple(self._settings.profiles), sentence=strings.SETTINGS_ACTIVE_PROFILE_SENTENCE
            )
        elif key == "appearance.theme":
            field = replace(field, choices=self._themes)
        value = self._draft.get(key, self._settings.value(key))
        if field.choices and value not in field.choices:
            field = replace(field, choices=(*field.choices, str(value)))
        default = self._condense_prompt if key == "context.condense_prompt" else ""
        return FieldRow(key, field, value, self._settings.source.get(key, "default"), default)

    def on_mount(self) -> None:
        self._explain_threshold(self._settings.value("context.threshold_percent"))
        self.query("#form Switch, #form Select, #form Input").first().focus()

    @on(FieldRow.Edited)
    def _edited(self, event: FieldRow.Edited) -> None:
        event.stop()
        self._problems.pop(event.key, None)
        if event.problem:
            self._problems[event.key] = event.problem
        if event.value == self._settings.value(event.key):
            self._draft.pop(event.key, None)
        else:
            self._draft[event.key] = event.value
        if event.key == "profile":
            self._show_profile()
        if event.key == "context.threshold_percent" and not event.problem:
            self._explain_threshold(event.value)

    def _explain_threshold(self, percent: object) -> None:
        """Show the threshold in tokens of the model's window, or explain an automatic one."""
        window = self._use.window
        if percent == "auto":
            for row in self.query(FieldRow):
                if row.key == "context.threshold_percent":
                    row.set_note(self._use.threshold_note or strings.SETTINGS_THRESHOLD_AUTO)
            return
        for row in self.query(FieldRow):
            if row.key == "context.threshold_percent" and window and isinstance(percent, int):
                tokens = -(-percent * window // 100)
                over = window - window // 10 - self._use.reserved + 1
                row.set_note(
                    strings.SETTINGS_THRESHOLD.format(
                        percent=percent,
                        window=exact(window),
                        tokens=exact(tokens),
                        trigger=exact(min(tokens, over)),
                    )
                )

    @work(exclusive=True, group="profile")
    async def _show_profile(self, focus: str = "Select") -> None:
        """Show the settings of the profile that is chosen now."""
        place = self.query_one("#profile", Vertical)
        async with self.batch():
            await place.remove_children()
            await place.mount_all(self._profile_rows())
        place.query(focus).first().focus(scroll_visible=False)

    @on(Button.Pressed, "#profile-new")
    def _new_profile(self) -> None:
        self._make_profile({"provider": Profile(DEFAULT_PROFILE).provider})

    @on(Button.Pressed, "#profile-copy")
    def _copy_profile(self) -> None:
        names = [field.key.rpartition(".")[2] for field in fields() if field.key.startswith("profiles.")]
        values = {name: self._draft_or_saved(f"profiles.{self._profile}.{name}") for name in names}
        usual = Profile(DEFAULT_PROFILE)
        self._make_profile(
            {name: value for name, value in values.items() if name == "provider" or value != getattr(usual, name)}
        )

    def _draft_or_saved(self, key: str) -> object:
        return self._draft.get(key, self._settings.value(key))

    @work(exclusive=True, group="profile")
    async def _make_profile(self, values: Changes) -> None:
        from roo_tui.tui.screens.small_dialogs import NameScreen

        name = await self.app.push_screen_wait(NameScreen(strings.PROFILE_NAME_TITLE, tuple(self._settings.profiles)))
        if name:
            changes = {f"profiles.{name}.{key}": value for key, value in values.items()}
            await self._save_profiles({**changes, "profile": name}, strings.PROFILE_MADE.format(name=name))

    @on(Button.Pressed, "#profile-delete")
    @work(exclusive=True, group="profile")
    async def _delete_profile(self) -> None:
        from roo_tui.tui.screens.small_dialogs import ConfirmScreen

        name = self._profile
        screen = ConfirmScreen(
            strings.PROFILE_DELETE_TITLE.format(name=name),
            strings.PROFILE_DELETE_TEXT.format(next=DEFAULT_PROFILE),
            yes=strings.PROFILE_DELETE_YES,
            no=strings.PROFILE_DELETE_NO,
        )
        if await self.app.push_screen_wait(screen):
            changes: Changes = {f"profiles.{name}": None, "profile": DEFAULT_PROFILE}
            await self._save_profiles(changes, strings.PROFILE_DELETED.format(name=name))

    async def _save_profiles(self, changes: Changes, done: str) -> None:
        """Save changes of profiles at once; other edits stay a draft."""
        try:
            self._settings = await self._change(changes)
        except RooError as error:
            self.app.notify(str(error), severity="error")
            return
        gone = [key for key in self._draft if key == "profile" or not self._exists(key)]
        for key in gone:
            del self._draft[key]
            self._problems.pop(key, None)
        self.app.notify(done)
        self._show_profile()

    def _exists(self, key: str) -> bool:
        try:
            self._settings.value(key)
        except KeyError:
            return False
        return True

    def action_page(self, pages: int) -> None:
        """Scroll the form."""
        form = self.query_one("#form")
        form.scroll_relative(y=pages * max(1, form.size.height - 2), animate=False)

    def action_save(self) -> None:
        """Save what was changed, unless something is not valid."""
        if self._problems:
            key, problem = next(iter(self._problems.items()))
            self.app.notify(strings.SETTINGS_PROBLEM.format(setting=key, problem=problem), severity="warning")
            next(row for row in self.query(FieldRow) if row.key == key).query("Input, TextArea").first().focus()
        elif not self._draft:
            self.dismiss(None)
            self.app.notify(strings.SETTINGS_NOTHING)
        else:
            self.dismiss(dict(self._draft))

    def action_less(self) -> None:
        """Go back; ask first if changes would be lost."""
        self._leave()

    @work(exclusive=True)
    async def _leave(self) -> None:
        count = len(self._draft)
        if count:
            from roo_tui.tui.screens.small_dialogs import ConfirmScreen

            screen = ConfirmScreen(
                strings.SETTINGS_DISCARD_TITLE,
                counted(strings.SETTINGS_DISCARD_TEXT, count),
                yes=strings.SETTINGS_DISCARD_YES,
                no=strings.SETTINGS_DISCARD_NO,
            )
            if not await self.app.push_screen_wait(screen):
                return
        self.dismiss(None)


def _sections() -> list[str]:
    """Return the first parts of all keys: those with a title in its order, then any others."""
    heads = [field.key.partition(".")[0] for field in fields() if "*" not in field.key]
    return [head for head in dict.fromkeys([*strings.SETTINGS_SECTION, *heads]) if head in heads]
