"""Thresholds of single strategies, read from the setting's JSON text."""

import pytest

from roo_tui.context.window.thresholds import Thresholds, thresholds_of
from roo_tui.domain.errors import SettingsError


def test_each_strategy_has_its_own_thresholds() -> None:
    text = '{"smart": {"trigger_tokens": 80000, "minGainTokens": 5000}, "native": {"stopTokens": 300}, "lossless": {}}'
    assert thresholds_of(text) == {
        "smart": Thresholds(trigger_tokens=80_000, min_gain_tokens=5_000),
        "native": Thresholds(stop_tokens=300),
        "lossless": Thresholds(),
    }


def test_a_blank_text_has_no_thresholds() -> None:
    assert thresholds_of(" \n") == {}


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("{", "not JSON: .* line 1"),
        ("[]", "must be an object whose keys are strategy names"),
        ('{"smart": 3}', "smart must be an object with trigger_tokens, stop_tokens and min_gain_tokens"),
        (
            '{"smart": {"begin": 1}}',
            "smart.begin is not a threshold. The thresholds are trigger_tokens, stop_tokens and",
        ),
        ('{"smart": {"trigger_tokens": -1}}', "smart.trigger_tokens is -1, but must be a whole number, 0 or more"),
        ('{"smart": {"stopTokens": true}}', "smart.stopTokens is true"),
        ('{"smart": {"stop_tokens": 2.5}}', "smart.stop_tokens is 2.5"),
        ('{"smart": {"stop_tokens": 1, "stopTokens": 2}}', "smart.stop_tokens is set twice"),
    ],
)
def test_thresholds_that_cannot_be_used_name_the_field(text: str, said: str) -> None:
    with pytest.raises(SettingsError, match=said):
        thresholds_of(text)
