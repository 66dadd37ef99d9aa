"""How a room declares a setting: a dataclass field with what its form, its check and its documentation need."""

import dataclasses
from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeVar

Value = TypeVar("Value")


@dataclass(frozen=True, slots=True, kw_only=True)
class Setting:
    """What is known of a setting beyond its type and default.

    `choices` is empty where any value of the type is valid; `range` is inclusive; `also` are valid values outside it.
    `clamp` says that a number out of range is moved into it, `filled` that a text may not be blank, `url` that it is an
    address. `structure` reads a setting of several values from its JSON text and raises `SettingsError`, which names
    the field, where it is not valid.
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
    """Return a dataclass field that is a setting; see `Setting` for the arguments.

    Its type is the default's, so that a checker compares the default with the field's annotation.
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
    """Return what a field says of its setting, None for a field that is not offered as one."""
    about = field.metadata.get(Setting)
    return about if isinstance(about, Setting) else None
