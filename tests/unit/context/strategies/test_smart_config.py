"""The configuration of smart: JSON there and back, every error names its field, presets have their sizes."""

import json

import pytest

from roo_tui.context.strategies.smart.config import SmartConfig, TruncateOperation, parse
from roo_tui.context.strategies.smart.presets import AGGRESSIVE, BALANCED, CONSERVATIVE, PRESETS, config_of
from roo_tui.domain.errors import SettingsError

INDIVIDUAL: dict[str, object] = {"id": "a", "mode": "individual", "individualConfig": {"defaults": {}}}
BATCH: dict[str, object] = {"id": "b", "mode": "batch", "batchConfig": {"operation": "summarize"}}


def changed(base: dict[str, object], **fields: object) -> str:
    return json.dumps({"passes": [base | fields]})


def results(operation: dict[str, object]) -> str:
    return changed(INDIVIDUAL, individualConfig={"defaults": {"toolResults": operation}})


@pytest.mark.parametrize("preset", PRESETS)
@pytest.mark.parametrize("camel_case", [True, False])
def test_a_preset_as_json_gives_the_preset_back(preset: str, camel_case: bool):
    text = PRESETS[preset].model_dump_json(by_alias=camel_case, exclude_none=True)
    assert parse(text) == PRESETS[preset]


def test_a_short_configuration_is_filled_with_defaults():
    config = parse(changed(INDIVIDUAL))
    assert config.lossless_prelude.enabled
    assert config.passes[0].selection.keep_recent_count == 10
    assert config.passes[0].execution.type == "always"


@pytest.mark.parametrize(
    ("text", "field", "words"),
    [
        ("{", "not JSON", "line 1"),
        ("[]", "the configuration", "object"),
        ("{}", "passes", "required"),
        (json.dumps({"passes": [INDIVIDUAL, INDIVIDUAL]}), "the configuration", "share the id a"),
        (json.dumps({"passes": [BATCH | {"id": ""}]}), "passes[0].id", "at least 1"),
        (json.dumps({"passes": [BATCH], "speed": 3}), "speed", "no such field"),
        (changed(INDIVIDUAL, mode="both"), "passes[0].mode", "individual"),
        (changed(INDIVIDUAL, mode="batch"), "passes[0]", "batchConfig"),
        (changed(BATCH, mode="individual"), "passes[0]", "individualConfig"),
        (results({"operation": "drop"}), "passes[0].individualConfig.defaults.toolResults", "'drop'"),
        (
            results({"operation": "truncate", "params": {"maxLines": -1}}),
            "passes[0].individualConfig.defaults.toolResults.params.maxLines",
            "it is -1",
        ),
        (
            results({"operation": "truncate", "params": {"maxLines": "3"}}),
            "passes[0].individualConfig.defaults.toolResults.params.maxLines",
            "integer",
        ),
        (results({"operation": "truncate", "params": {}}), "toolResults.params", "maxChars or maxLines"),
        (results({"operation": "summarize", "params": {"maxTokens": 3}}), "params.maxTokens", "16"),
        (changed(BATCH, selection={"type": "custom"}), "passes[0].selection.type", "preserve_recent"),
        (changed(BATCH, selection={"keepPercentage": 101}), "passes[0].selection.keepPercentage", "100"),
        (changed(BATCH, execution={"type": "conditional"}), "passes[0].execution", "needs a condition"),
        (changed(BATCH, execution={"type": "conditional", "condition": {}}), "condition", "tokenThreshold"),
        (changed(BATCH, thresholds={"stopTokens": -5}), "passes[0].thresholds.stopTokens", "it is -5"),
        (
            changed(
                INDIVIDUAL,
                individualConfig={
                    "defaults": {},
                    "overrides": [{"messageIndex": 2, "operations": {}}, {"messageIndex": 2, "operations": {}}],
                },
            ),
            "passes[0].individualConfig",
            "messageIndex twice",
        ),
    ],
)
def test_an_error_names_the_field_and_what_is_wrong(text: str, field: str, words: str):
    with pytest.raises(SettingsError) as caught:
        parse(text)
    assert field in str(caught.value)
    assert words in str(caught.value)


def test_every_problem_is_told_at_once():
    with pytest.raises(SettingsError) as caught:
        parse(json.dumps({"passes": [BATCH | {"mode": "x"}, BATCH | {"selection": {"keepRecentCount": -1}}]}))
    assert "passes[0].mode" in str(caught.value)
    assert "passes[1].selection.keepRecentCount" in str(caught.value)


def sizes(config: SmartConfig, at: int) -> tuple[int | None, int | None]:
    individual = config.passes[at].individual_config
    assert individual is not None
    return individual.message_token_thresholds.tool_parameters, individual.message_token_thresholds.tool_results


def above(config: SmartConfig, at: int) -> int | None:
    condition = config.passes[at].execution.condition
    return condition.token_threshold if condition else None


def test_presets_have_their_sizes():
    assert [step.id for step in CONSERVATIVE.passes] == [
        "conservative-preserve-conversation",
        "conservative-context-fallback",
    ]
    assert sizes(CONSERVATIVE, 0) == (None, 2_000)
    assert (sizes(BALANCED, 0), sizes(BALANCED, 1)) == ((None, 1_000), (500, 500))
    assert (sizes(AGGRESSIVE, 0), sizes(AGGRESSIVE, 1)) == ((300, 300), (300, 500))
    assert [above(CONSERVATIVE, 1), above(BALANCED, 1), above(BALANCED, 2), above(AGGRESSIVE, 2)] == [
        60_000,
        50_000,
        40_000,
        35_000,
    ]
    recent = {name: [step.selection.keep_recent_count for step in PRESETS[name].passes] for name in PRESETS}
    assert recent == {"conservative": [20, 15], "balanced": [12, 8, 10], "aggressive": [25, 8, 6]}
    kept = [
        (config.summarization_config.keep_first, config.summarization_config.keep_last)
        for preset in PRESETS.values()
        if (config := preset.passes[-1].batch_config)
    ]
    assert kept == [(2, 12), (2, 10), (1, 6)]
    second = AGGRESSIVE.passes[1].individual_config
    assert second is not None
    cut_inputs, cut_results = second.defaults.tool_parameters, second.defaults.tool_results
    assert isinstance(cut_inputs, TruncateOperation) and cut_inputs.params.max_chars == 100
    assert isinstance(cut_results, TruncateOperation) and cut_results.params.max_lines == 4


def test_a_field_in_snake_case_is_named_as_it_was_written():
    with pytest.raises(SettingsError, match=r"passes\[0\].selection.keep_recent_count: .* \(it is -1\)"):
        parse(changed(BATCH, selection={"keep_recent_count": -1}))


def test_a_custom_configuration_is_used_under_its_own_name_only():
    custom = json.dumps({"passes": [BATCH]})
    assert config_of("balanced", custom) == BALANCED
    assert config_of("custom", custom) == parse(custom)
    with pytest.raises(SettingsError, match="has no smart passes"):
        config_of("custom", " ")
    with pytest.raises(SettingsError, match=r"The smart passes cannot be used: passes\[0\].mode"):
        config_of("custom", json.dumps({"passes": [BATCH | {"mode": "both"}]}))
    with pytest.raises(SettingsError, match="conservative, balanced, aggressive, custom"):
        config_of("fast")
