"""Declare settings: dataclass fields with everything the form, the check and the documentation need."""

import dataclasses
from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeVar

Value = TypeVar("Value")


@dataclass(frozen=True, slots=True, kw_only=True)
class Setting:
    """What is known about a setting besides its type and default.

    If `choices` is empty, any value of the type is valid. `range` is inclusive; `also` are valid values outside it.
    With `clamp`, a number out of range is moved into it. A `filled` text must not be blank; a `url` must be an address.
    `structure` reads a setting of several values from JSON text; it raises `SettingsError`, which names the field, if
    a value is not valid.
    """

    title: str
    sentence: str
    unit: str = ""
    choices: tuple[str, ...] = ()
    range: tuple[float, float] | None = None
    also: tuple[float | str, ...] = ()
    clamp: bool = False
    multiline: bool = False
    filled: bool = False
    url: bool = False
    structure: Callable[[str], object] | None = None


def setting(
    default: Value,
    *,
    title: str,
    sentence: str,
    unit: str = "",
    choices: tuple[str, ...] = (),
    range: tuple[float, float] | None = None,
    also: tuple[float | str, ...] = (),
    clamp: bool = False,
    multiline: bool = False,
    filled: bool = False,
    url: bool = False,
    structure: Callable[[str], object] | None = None,
) -> Value:
    """Return a dataclass field that is a setting; the arguments are described at `Setting`.

    The declared type is the default's, so that a type checker compares the default with the field's annotation.
    """
    about = Setting(
        title=title,
        sentence=sentence,
        unit=unit,
        choices=choices,
        range=range,
        also=also,
        clamp=clamp,
        multiline=multiline,
        filled=filled,
        url=url,
        structure=structure,
    )
    return dataclasses.field(default=default, metadata={Setting: about})


def setting_of(field: "dataclasses.Field[object]") -> Setting | None:
    """Return a field's setting, None if the field is not one."""
    about = field.metadata.get(Setting)
    return about if isinstance(about, Setting) else None
