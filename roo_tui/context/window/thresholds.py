"""Thresholds of strategies, and how to read the setting `context.strategy_thresholds`."""

import json
from collections.abc import Mapping
from dataclasses import dataclass

from roo_tui.domain.errors import SettingsError
from roo_tui.domain.json_value import JsonValue

_FIELDS = {
    "trigger_tokens": "trigger_tokens",
    "triggerTokens": "trigger_tokens",
    "stop_tokens": "stop_tokens",
    "stopTokens": "stop_tokens",
    "min_gain_tokens": "min_gain_tokens",
    "minGainTokens": "min_gain_tokens",
}


@dataclass(frozen=True, slots=True)
class Thresholds:
    """A strategy's thresholds in context tokens; 0 means not set.

    `trigger_tokens`: a reduction is due from this count on, in addition to the policy's own trigger. `stop_tokens`: the
    reduction may stop at this count. `min_gain_tokens`: a reduction that frees less is refused.
    """

    trigger_tokens: int = 0
    stop_tokens: int = 0
    min_gain_tokens: int = 0

    def over(self, general: "Thresholds") -> "Thresholds":
        """Return these thresholds, with those not set taken from `general`."""
        return Thresholds(
            self.trigger_tokens or general.trigger_tokens,
            self.stop_tokens or general.stop_tokens,
            self.min_gain_tokens or general.min_gain_tokens,
        )


def thresholds_of(text: str) -> dict[str, Thresholds]:
    """Return the thresholds of single strategies by id; none for a blank text.

    Raises:
        SettingsError: the text is not JSON, or a field is not valid; the message names the field.
    """
    if not text.strip():
        return {}
    try:
        given: JsonValue = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise SettingsError(f"The strategy thresholds are not JSON: {error}") from error
    if not isinstance(given, Mapping):
        raise SettingsError("The strategy thresholds must be an object whose keys are strategy names.")
    return {name: _thresholds(name, values) for name, values in given.items()}


def _thresholds(name: str, values: JsonValue) -> Thresholds:
    if not isinstance(values, Mapping):
        raise SettingsError(f"{name} must be an object with {_expected()}.")
    found: dict[str, int] = {}
    for key, value in values.items():
        field = _FIELDS.get(key)
        if field is None:
            raise SettingsError(f"{name}.{key} is not a threshold. The thresholds are {_expected()}.")
        if field in found:
            raise SettingsError(f"{name}.{field} is set twice.")
        if isinstance(value, bool) or not isinstance(value, int) or value < 0:
            raise SettingsError(f"{name}.{key} is {json.dumps(value)}, but must be a whole number, 0 or more.")
        found[field] = value
    return Thresholds(**found)


def _expected() -> str:
    *most, last = dict.fromkeys(_FIELDS.values())
    return f"{', '.join(most)} and {last}"
