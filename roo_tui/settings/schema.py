"""What may be set, and to what: derived from the fields of the option dataclasses and their metadata."""

import dataclasses
import types
from dataclasses import dataclass
from functools import cache
from typing import Any, Literal, Union, get_args, get_origin, get_type_hints

from roo_tui.context import ContextOptions
from roo_tui.llm.options import Profile
from roo_tui.settings.options import AppearanceOptions, ApprovalOptions, CheckpointOptions, HookOptions

SECTIONS: dict[str, type] = {
    "context": ContextOptions,
    "approvals": ApprovalOptions,
    "checkpoints": CheckpointOptions,
    "hooks": HookOptions,
    "appearance": AppearanceOptions,
}


@dataclass(frozen=True, slots=True)
class Field:
    """One setting: what a form, a check and a page of documentation need to know.

    `key` is dotted; a profile's settings have `*` in place of its name. `kind` is bool, int, float, str or tuple (of
    texts). `choices` is empty where any value of the kind is valid; `range` is inclusive; `also` are valid values
    outside it. `optional` says that it can be unset (`None`). `clamp` says that a number out of range is moved into it.
    """

    key: str
    kind: type
    default: Any
    title: str
    sentence: str
    unit: str = ""
    choices: tuple[str, ...] = ()
    range: tuple[float, float] | None = None
    also: tuple[float | str, ...] = ()
    optional: bool = False
    clamp: bool = False
    multiline: bool = False
    filled: bool = False
    url: bool = False

    @property
    def valid(self) -> str:
        """What would be valid, as the end of a sentence that begins with “must be”."""
        if self.choices:
            return _any_of(self.choices)
        if self.kind in (int, float):
            number = "a whole number" if self.kind is int else "a number"
            if self.range:
                number += f" from {self.range[0]:g} to {self.range[1]:.10g}"
            return _any_of((number, *(f"{value}" for value in self.also)))
        if self.url:
            return "an address that begins with http:// or https://, or blank"
        if self.kind is bool:
            return "true or false"
        if self.kind is tuple:
            return "a list of texts"
        return "text that is not blank" if self.filled else "text"

    def check(self, value: Any) -> Any:
        """Return the value as the settings hold it (a list becomes a tuple, a whole number a float where one is due).

        Raises:
            ValueError: it is not valid; the text ends a sentence that begins with the key.
        """
        if value is None and self.optional:
            return None
        if not self._fits(value):
            raise ValueError(f"is {_shown(value)}, but must be {self.valid}")
        if self.kind is tuple:
            return tuple(value)
        return float(value) if self.kind is float else value

    def nearest(self, value: Any) -> Any:
        """Return the valid number nearest to an invalid one, None where there is no such thing."""
        if self.clamp and self.range and type(value) is int:
            return self.kind(min(max(value, self.range[0]), self.range[1]))
        return None

    def parse(self, text: str) -> Any:
        """Return the value that a text (of an environment variable, of a form) means; lists are separated by commas.

        Raises:
            ValueError: as `check` does.
        """
        value: Any = text.strip() if self.kind is not str else text
        if self.optional and value == "":
            return None
        if self.kind is bool:
            value = {"true": True, "1": True, "on": True, "yes": True, "false": False, "0": False, "off": False}.get(
                value.lower(), False if value.lower() == "no" else value
            )
        elif self.kind is tuple:
            value = tuple(part.strip() for part in value.split(",") if part.strip())
        elif self.kind in (int, float):
            try:
                value = self.kind(value)
            except ValueError:
                pass  # `check` says what would be valid
        return self.check(value)

    def _fits(self, value: Any) -> bool:
        if any(value == other and type(value) is type(other) for other in self.also):
            return True
        if self.kind is tuple:
            return isinstance(value, list | tuple) and all(isinstance(part, str) for part in value)
        if self.kind is str:
            return isinstance(value, str) and self._text_fits(value)
        if self.kind is bool:
            return isinstance(value, bool)
        if isinstance(value, bool) or not isinstance(value, (int, float) if self.kind is float else int):
            return False
        return not self.range or self.range[0] <= value <= self.range[1]

    def _text_fits(self, value: str) -> bool:
        if self.choices:
            return value in self.choices
        if self.url and value:
            return value.startswith(("http://", "https://"))
        return bool(value.strip()) or not self.filled


@cache
def _all() -> dict[str, Field]:
    found = [Field("profile", str, "default", "Profile", "The profile that is used.", filled=True)]
    for section, options in SECTIONS.items():
        found += _fields_of(options, section)
    found += _fields_of(Profile, "profiles.*")
    return {field.key: field for field in found}


def fields() -> list[Field]:
    """Return every setting in the order of the form: the chosen profile, the sections, then a profile's own."""
    return list(_all().values())


def field_of(key: str) -> Field | None:
    """Return the setting that a dotted key names (`profiles.fast.model` too), None if there is none."""
    head, _, name = key.rpartition(".")
    if head.startswith("profiles.") and head != "profiles.":
        return _all().get(f"profiles.*.{name}")
    return None if "*" in key else _all().get(key)


def _fields_of(options: type, prefix: str) -> list[Field]:
    hints = get_type_hints(options)
    return [
        _field(f"{prefix}.{field.name}", hints[field.name], field.default, dict(field.metadata))
        for field in dataclasses.fields(options)
        if field.metadata
    ]


def _field(key: str, hint: Any, default: Any, metadata: dict[str, Any]) -> Field:
    parts = get_args(hint) if get_origin(hint) in (Union, types.UnionType) else (hint,)
    optional = type(None) in parts
    hint = next(part for part in parts if part is not type(None))
    if get_origin(hint) is Literal:
        metadata.setdefault("choices", get_args(hint))
        hint = str
    kind = get_origin(hint) or hint
    return Field(key=key, kind=kind, default=default, optional=optional, **metadata)


def _any_of(choices: tuple[str, ...]) -> str:
    return choices[0] if len(choices) == 1 else f"{', '.join(choices[:-1])} or {choices[-1]}"


def _shown(value: Any) -> str:
    text = f"“{value}”" if isinstance(value, str) else str(value).lower() if isinstance(value, bool) else repr(value)
    return text if len(text) <= 80 else text[:79] + "…"
