"""Every setting and its valid values, derived from the fields of the option dataclasses."""

import dataclasses
import types
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache
from typing import Literal, TypeAlias, Union, get_args, get_origin, get_type_hints

from roo_tui.context import ContextOptions
from roo_tui.domain.errors import SettingsError
from roo_tui.llm.options import ModelFacts, Profile
from roo_tui.setting_field import Setting, setting_of
from roo_tui.settings.options import AppearanceOptions, ApprovalOptions, CheckpointOptions, HookOptions
from roo_tui.settings.structured import json_text

SettingValue: TypeAlias = bool | int | float | str | tuple[str, ...] | None

SECTIONS: dict[str, type] = {
    "context": ContextOptions,
    "approvals": ApprovalOptions,
    "checkpoints": CheckpointOptions,
    "hooks": HookOptions,
    "appearance": AppearanceOptions,
}
# Sections of tables that the user names: `[profiles.fast]`, `[models."my-model"]`.
NAMED_SECTIONS: dict[str, type] = {"profiles": Profile, "models": ModelFacts}

_YES_AND_NO = {"true": True, "1": True, "on": True, "yes": True, "false": False, "0": False, "off": False, "no": False}


@dataclass(frozen=True, slots=True, kw_only=True)
class Field(Setting):
    """One setting: what the form, the check and the documentation need to know about it.

    `key` is dotted; in a named section, `*` stands for the name. `kind` is bool, int, float, str or tuple (of texts).
    An `optional` setting can be unset (`None`).
    """

    key: str
    kind: type
    default: SettingValue
    optional: bool = False

    @property
    def valid(self) -> str:
        """What is valid, as the end of a sentence that begins with “must be”."""
        if self.choices:
            return _any_of(self.choices)
        if self.kind in (int, float):
            number = "a whole number" if self.kind is int else "a number"
            if self.range:
                number += f" from {self.range[0]:,.10g} to {self.range[1]:,.10g}"
            return _any_of((number, *(f"{value}" for value in self.also)))
        if self.url:
            return "an address that begins with http:// or https://, or blank"
        if self.kind is bool:
            return "true or false"
        if self.kind is tuple:
            return "a list of texts"
        if self.structure:
            return "JSON text or a table"
        return "text that is not blank" if self.filled else "text"

    def check(self, value: object) -> SettingValue:
        """Return a value in the form the settings use.

        A list becomes a tuple, a whole number a float if the setting is one, and a table JSON text.

        Raises:
            ValueError: the value is not valid; the text continues a sentence that begins with the key.
        """
        if value is None and self.optional:
            return None
        if self.structure and isinstance(value, str | dict):
            return self._structured(self.structure, value)
        if isinstance(value, list | tuple) and self.kind is tuple and all(isinstance(part, str) for part in value):
            return tuple(value)
        if isinstance(value, bool | int | float | str) and self._fits(value):
            return float(value) if self.kind is float else value
        raise ValueError(f"is {_shown(value)}, but must be {self.valid}")

    def nearest(self, value: object) -> SettingValue:
        """Return the valid number nearest to an invalid one, None if the setting is not moved into its range."""
        if self.clamp and self.range and isinstance(value, int) and not isinstance(value, bool):
            nearest = min(max(value, self.range[0]), self.range[1])
            return int(nearest) if self.kind is int else nearest
        return None

    def parse(self, text: str) -> SettingValue:
        """Return the value of a text from a form.

        Raises:
            ValueError: as `check` does.
        """
        return self.check(self.read(text))

    def read(self, text: str) -> object:
        """Return what a text from an environment variable or a form means, still unchecked.

        A list has one part in each line: its parts may be commands, which contain commas and all else.
        """
        if self.kind is str:
            return text
        text = text.strip()
        if self.optional and not text:
            return None
        if self.kind is bool:
            return _YES_AND_NO.get(text.lower(), text)
        if self.kind is tuple:
            return [part.strip() for part in text.splitlines() if part.strip()]
        try:
            return int(text) if self.kind is int else float(text)
        except ValueError:
            return text

    def _structured(self, read: Callable[[str], object], value: object) -> str:
        try:
            text = json_text(value)
            if text:
                read(text)
        except SettingsError as error:
            raise ValueError(f"is not valid: {error}") from error
        return text

    def _fits(self, value: float | str) -> bool:
        if any(value == other and type(value) is type(other) for other in self.also):
            return True
        if isinstance(value, str):
            return self.kind is str and self._text_fits(value)
        if isinstance(value, bool):
            return self.kind is bool
        if self.kind is float or (self.kind is int and isinstance(value, int)):
            return not self.range or self.range[0] <= value <= self.range[1]
        return False

    def _text_fits(self, value: str) -> bool:
        if self.choices:
            return value in self.choices
        if self.url and value:
            return value.startswith(("http://", "https://"))
        return bool(value.strip()) or not self.filled


@cache
def _all() -> dict[str, Field]:
    chosen = Field(
        key="profile", kind=str, default="default", title="Profile", sentence="The profile in use.", filled=True
    )
    found = [chosen]
    for section, options in SECTIONS.items():
        found += _fields_of(options, section)
    for section, options in NAMED_SECTIONS.items():
        found += _fields_of(options, f"{section}.*")
    return {field.key: field for field in found}


def fields() -> list[Field]:
    """Return every setting in the order of the form: the active profile, the sections, then the named sections."""
    return list(_all().values())


def field_of(key: str) -> Field | None:
    """Return the setting of a dotted key, including keys like `profiles.fast.model`; None if there is none."""
    section, named, rest = key.partition(".")
    if section not in NAMED_SECTIONS:
        return _all().get(key)
    name, dot, setting = rest.rpartition(".")
    return _all().get(f"{section}.*.{setting}") if named and name and dot else None


def _fields_of(options: type, prefix: str) -> Iterator[Field]:
    hints = get_type_hints(options)
    for field in dataclasses.fields(options):
        about = setting_of(field)
        if about is not None and field.default is not dataclasses.MISSING:
            yield _field(f"{prefix}.{field.name}", hints[field.name], field.default, about)


def _field(key: str, hint: object, default: SettingValue, about: Setting) -> Field:
    parts = get_args(hint) if get_origin(hint) in (Union, types.UnionType) else (hint,)
    kind, *_ = (part for part in parts if part is not type(None))
    if get_origin(kind) is Literal:
        about, kind = dataclasses.replace(about, choices=get_args(kind)), str
    return Field(
        key=key,
        kind=get_origin(kind) or kind,
        default=default,
        optional=type(None) in parts,
        **{field.name: getattr(about, field.name) for field in dataclasses.fields(about)},
    )


def _any_of(choices: tuple[str, ...]) -> str:
    return choices[0] if len(choices) == 1 else f"{', '.join(choices[:-1])} or {choices[-1]}"


def _shown(value: object) -> str:
    text = f"“{value}”" if isinstance(value, str) else str(value).lower() if isinstance(value, bool) else repr(value)
    return text if len(text) <= 80 else text[:79] + "…"
