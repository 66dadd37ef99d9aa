"""One setting in the form, built from its `settings.Field`."""

from typing import Any

from textual import on
from textual.app import ComposeResult
from textual.containers import Vertical
from textual.content import Content
from textual.message import Message
from textual.widget import Widget
from textual.widgets import Button, Input, Select, Static, Switch, TextArea

from roo_tui.plain_text import clean
from roo_tui.settings import Field
from roo_tui.tui import strings


class FieldRow(Vertical):
    """One setting: its name, value, description, source and problem."""

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
        self._changed = False
        self._default_text = default_text
        self._problem = ""

    def compose(self) -> ComposeResult:
        yield Static(self._title(), classes="field-title", markup=False)
        yield self._editor()
        yield Static(self._field.sentence, classes="field-sentence", markup=False)
        yield Static(classes="field-note", markup=False)
        if self._has_built_in_text:
            yield Button(strings.SETTINGS_RESET, compact=True, classes="reset")

    def on_mount(self) -> None:
        self._note()

    @property
    def _has_built_in_text(self) -> bool:
        return self._field.multiline and self._field.structure is None

    def _title(self) -> Content:
        unit = f" ({self._field.unit})" if self._field.unit else ""
        return Content.assemble((self._field.title, "bold"), (unit, "$foreground-muted"))

    def _editor(self) -> Widget:
        field, value = self._field, self._value
        if field.kind is bool:
            return Switch(bool(value))
        if field.choices:
            return Select(
                [(choice or strings.SETTINGS_DEFAULT_CHOICE, choice) for choice in field.choices],
                value=value,
                allow_blank=False,
                compact=True,
            )
        if field.multiline:
            area = TextArea(clean(value or self._default_text), show_line_numbers=False, compact=True)
            area.tab_behavior = "focus"
            return area
        text = ", ".join(value) if field.kind is tuple else "" if value is None else f"{value}"
        hint = strings.SETTINGS_NOT_SET if field.default is None else f"{field.default}"
        if field.kind is tuple:
            hint = strings.SETTINGS_LIST_HINT
        return Input(clean(text), placeholder=hint, compact=True)

    def _note(self) -> None:
        note = self.query_one(".field-note", Static)
        if self._problem:
            text = strings.SETTINGS_PROBLEM.format(setting=self._field.title, problem=self._problem)
            note.update(Content.styled(text, "$text-error"))
            return
        text = strings.SETTINGS_UNSAVED if self._changed else strings.SETTINGS_SOURCE.format(source=self._source)
        if self._has_built_in_text and self._changed and not self._value:
            text = strings.SETTINGS_RESET_UNSAVED
        elif self._has_built_in_text:
            text = f"{strings.SETTINGS_CUSTOM if self._value else strings.SETTINGS_BUILT_IN}  {text}"
        note.update(Content.styled(text, "$foreground-muted"))

    def set_note(self, text: str) -> None:
        """Show what the value means here."""
        self.query_one(".field-sentence", Static).update(text)

    def _edited(self, value: Any, problem: str = "") -> None:
        if value == self._value and problem == self._problem:
            return
        self._value, self._problem = value, problem
        self._changed = True
        self._note()
        self.post_message(self.Edited(self.key, value, problem))

    def _check(self, text: str) -> None:
        try:
            value = self._field.parse(text)
        except ValueError as error:
            self._edited(text, str(error))
        else:
            self._edited(value)

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
        self._check(event.value)

    @on(TextArea.Changed)
    def _written(self, event: TextArea.Changed) -> None:
        event.stop()
        text = event.text_area.text
        self._check("" if not text.strip() or text == clean(self._default_text) else text)

    @on(Button.Pressed)
    def _reset(self, event: Button.Pressed) -> None:
        event.stop()
        self.query_one(TextArea).text = clean(self._default_text)
        self.query_one(TextArea).focus()
