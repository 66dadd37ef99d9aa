"""The settings as a form made from `settings.fields()`: a draft is edited, saved as a whole, or discarded."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any, ClassVar, Literal

from textual import on, work
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical, VerticalScroll
from textual.content import Content
from textual.message import Message
from textual.widget import Widget
from textual.widgets import Button, Input, Select, Static, Switch, TextArea

from roo_tui.domain.views import ContextUse
from roo_tui.plain_text import clean
from roo_tui.settings import Field, Settings, fields
from roo_tui.tui import words
from roo_tui.tui.numbers import exact
from roo_tui.tui.screens.page import Page

Changes = Mapping[str, Any]


class FieldRow(Vertical):
    """One setting: its name and value, a sentence, where the value comes from, and what is wrong with it."""

    class Edited(Message):
        """The value was edited; `value` is valid unless `problem` says why not."""

        def __init__(self, key: str, value: Any, problem: str = "") -> None:
            super().__init__()
            self.key = key
            self.value = value
            self.problem = problem

    def __init__(self, key: str, field: Field, value: Any, source: str, default_text: str = "") -> None:
        super().__init__(classes="field")
        self.key = key
        self._field = field
        self._value = value
        self._source = source
        self._default_text = default_text
        self._problem = ""

    def compose(self) -> ComposeResult:
        yield Static(self._title(), classes="field-title", markup=False)
        yield self._editor()
        yield Static(self._field.sentence, classes="field-sentence", markup=False)
        yield Static(classes="field-note", markup=False)
        if self._field.multiline:
            yield Button(words.SETTINGS_RESET, compact=True, classes="reset")

    def on_mount(self) -> None:
        self._note()

    def _title(self) -> Content:
        unit = f"  {self._field.unit}" if self._field.unit else ""
        return Content.assemble((self._field.title, "bold"), (unit, "$foreground-muted"))

    def _editor(self) -> Widget:
        field, value = self._field, self._value
        if field.kind is bool:
            return Switch(bool(value))
        if field.choices:
            return Select(
                [(choice or words.SETTINGS_DEFAULT_CHOICE, choice) for choice in field.choices],
                value=value,
                allow_blank=False,
                compact=True,
            )
        if field.multiline:
            area = TextArea(clean(value or self._default_text), show_line_numbers=False, compact=True)
            area.tab_behavior = "focus"
            return area
        text = ", ".join(value) if field.kind is tuple else "" if value is None else f"{value}"
        hint = words.SETTINGS_LIST_HINT if field.kind is tuple else f"{field.default}"
        return Input(clean(text), placeholder=hint, compact=True)

    def _note(self) -> None:
        note = self.query_one(".field-note", Static)
        if self._problem:
            note.update(Content.styled(f"{self._field.title} {self._problem}", "$text-error"))
            return
        source = words.SETTINGS_SOURCE.format(source=self._source)
        if self._field.multiline:
            text = words.SETTINGS_CUSTOM if self._value else words.SETTINGS_DEFAULT_SHOWN
            source = f"{text}  {source}"
        note.update(Content.styled(source, "$foreground-muted"))

    def set_note(self, text: str) -> None:
        """Show what the value means here."""
        self.query_one(".field-sentence", Static).update(text)

    def _edited(self, value: Any, problem: str = "") -> None:
        if value == self._value and problem == self._problem:
            return
        self._value, self._problem = value, problem
        self._source = words.SETTINGS_CHANGED
        self._note()
        self.post_message(self.Edited(self.key, value, problem))

    @on(Switch.Changed)
    def _switched(self, event: Switch.Changed) -> None:
        event.stop()
        self._edited(event.value)

    @on(Select.Changed)
    def _selected(self, event: Select.Changed) -> None:
        event.stop()
        self._edited(event.value)

    @on(Input.Changed)
    def _typed(self, event: Input.Changed) -> None:
        event.stop()
        try:
            value = self._field.parse(event.value)
        except ValueError as error:
            self._edited(event.value, str(error))
        else:
            self._edited(value)

    @on(TextArea.Changed)
    def _written(self, event: TextArea.Changed) -> None:
        event.stop()
        text = event.text_area.text
        self._edited("" if not text.strip() or text == clean(self._default_text) else text)

    @on(Button.Pressed)
    def _reset(self, event: Button.Pressed) -> None:
        event.stop()
        self.query_one(TextArea).text = clean(self._default_text)
        self.query_one(TextArea).focus()


class SettingsScreen(Page[Changes | None]):
    """Dismisses with the changed settings by dotted key, None if nothing is to be saved."""

    TITLE_TEXT = words.SETTINGS_TITLE
    KEYS_TEXT = words.SETTINGS_KEYS
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("ctrl+s", "save", words.SETTINGS_TITLE, show=False, priority=True),
        Binding("pagedown", "page(1)", show=False, priority=True),
        Binding("pageup", "page(-1)", show=False, priority=True),
    ]

    def __init__(
        self, settings: Settings, use: ContextUse, themes: Sequence[str], *, condense_prompt: str = ""
    ) -> None:
        super().__init__()
        self._settings = settings
        self._use = use
        self._themes = ("", *themes)
        self._condense_prompt = condense_prompt
        self._draft: dict[str, Any] = {}
        self._problems: dict[str, str] = {}

    def body(self) -> Iterable[Widget]:
        rows: list[Widget] = []
        if self._settings.problems:
            text = "\n".join(f"• {clean(problem)}" for problem in self._settings.problems)
            rows.append(Static(words.SETTINGS_PROBLEMS, classes="section -problem", markup=False))
            rows.append(Static(text, classes="problems", markup=False))
        section = ""
        for field in sorted(fields(), key=_section_order):
            head = field.key.partition(".")[0]
            if words.SETTINGS_SECTION[head] != section:
                section = words.SETTINGS_SECTION[head]
                rows.append(Static(section, classes="section", markup=False))
            rows.append(self._row(field))
        yield VerticalScroll(*rows, id="form", can_focus=False)

    def _row(self, field: Field) -> FieldRow:
        key = field.key.replace("*", self._settings.profile)
        if key == "profile":
            field = replace(
                field, choices=tuple(self._settings.profiles), sentence=words.SETTINGS_ACTIVE_PROFILE_SENTENCE
            )
        elif key == "appearance.theme":
            field = replace(field, choices=self._themes)
        value = self._settings.value(key)
        if field.choices and value not in field.choices:
            field = replace(field, choices=(*field.choices, value))
        default = self._condense_prompt if key == "context.condense_prompt" else ""
        return FieldRow(key, field, value, self._settings.source.get(key, "default"), default)

    def on_mount(self) -> None:
        self._explain_threshold(self._settings.context.threshold_percent)
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
        if event.key == "context.threshold_percent" and not event.problem:
            self._explain_threshold(event.value)

    def _explain_threshold(self, percent: int | Literal["auto"]) -> None:
        """Say what the threshold is in tokens of the current model's window, and why an adapting one stands there."""
        window = self._use.window
        if percent == "auto":
            for row in self.query(FieldRow):
                if row.key == "context.threshold_percent":
                    row.set_note(self._use.threshold_note or words.SETTINGS_THRESHOLD_AUTO)
            return
        for row in self.query(FieldRow):
            if row.key == "context.threshold_percent" and window:
                tokens = -(-percent * window // 100)
                allowed = window - window // 10 - self._use.reserved
                row.set_note(
                    words.SETTINGS_THRESHOLD.format(
                        percent=percent,
                        window=exact(window),
                        tokens=exact(tokens),
                        trigger=exact(min(tokens, allowed)),
                    )
                )

    def action_page(self, pages: int) -> None:
        """Scroll the form."""
        form = self.query_one("#form")
        form.scroll_relative(y=pages * max(1, form.size.height - 2), animate=False)

    def action_save(self) -> None:
        """Save what was changed, unless something is not valid."""
        if self._problems:
            key, problem = next(iter(self._problems.items()))
            self.notify(f"{key} {problem}", severity="error", markup=False)
            next(row for row in self.query(FieldRow) if row.key == key).query("Input").first().focus()
        elif not self._draft:
            self.notify(words.SETTINGS_NOTHING, markup=False)
            self.dismiss(None)
        else:
            self.dismiss(dict(self._draft))

    def action_less(self) -> None:
        """Go back; asks where changes would be lost."""
        self._leave()

    @work(exclusive=True)
    async def _leave(self) -> None:
        count = len(self._draft)
        if count:
            from roo_tui.tui.screens.confirm import ConfirmScreen

            one = words.SETTINGS_DISCARD_ONE
            text = one if count == 1 else words.SETTINGS_DISCARD_TEXT.format(count=count)
            screen = ConfirmScreen(
                words.SETTINGS_DISCARD_TITLE, text, yes=words.SETTINGS_DISCARD_YES, no=words.SETTINGS_DISCARD_NO
            )
            if not await self.app.push_screen_wait(screen):
                return
        self.dismiss(None)


_ORDER = ("context", "profile", "profiles", "approvals", "checkpoints", "appearance")


def _section_order(field: Field) -> int:
    return _ORDER.index(field.key.partition(".")[0])
