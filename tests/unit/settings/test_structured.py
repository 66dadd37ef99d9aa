"""Smart passes and strategy thresholds: JSON text or tables in the settings file, one meaning."""

import json
import tomllib
from pathlib import Path

import pytest
import tomlkit
from hypothesis import given
from hypothesis import strategies as st

from roo_tui import settings
from roo_tui.context.strategies.smart.config import parse
from roo_tui.context.window.thresholds import Thresholds, thresholds_of
from roo_tui.domain.errors import SettingsError
from roo_tui.settings import Settings

TABLES = """
[context]
smart_preset = "custom"

[context.strategy_thresholds.smart]  # early
trigger_tokens = 80_000
minGainTokens = 5000  # not for less

# Big results first.
[[context.smart_config.passes]]
id = "results"
mode = "individual"
selection = { type = "preserve_percent", keepPercentage = 40 }

[context.smart_config.passes.individual_config]
message_token_thresholds.tool_results = 1_000  # from here on
defaults.tool_results = { operation = "truncate", params = { max_lines = 8 } }

[[context.smart_config.passes]]
id = "rest"  # the last resort
mode = "batch"
batch_config.operation = "summarize"
execution = { type = "conditional", condition = { token_threshold = 40_000 } }
"""
THRESHOLDS = '{"smart": {"trigger_tokens": 80000, "min_gain_tokens": 5000}}'
PASSES = """{
  "passes": [
    {"id": "results", "mode": "individual",
     "selection": {"type": "preserve_percent", "keepPercentage": 40.0},
     "individualConfig": {
       "messageTokenThresholds": {"toolResults": 1000, "messageText": null},
       "defaults": {"toolResults": {"operation": "truncate", "params": {"maxLines": 8}}}}},
    {"id": "rest", "mode": "batch", "batchConfig": {"operation": "summarize"},
     "execution": {"type": "conditional", "condition": {"tokenThreshold": 40000}}}
  ]
}"""


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "settings.toml"


def load(file: Path, text: str = "", **sources) -> Settings:
    if text:
        file.write_text(text, encoding="utf-8")
    return settings.load(file=file, environ=sources.pop("environ", {}), **sources)


def test_tables_and_json_text_mean_the_same(file: Path) -> None:
    tables = load(file, TABLES)
    texts = load(file, f"context.strategy_thresholds = '{THRESHOLDS}'\ncontext.smart_config = '''{PASSES}'''")
    assert tables.problems == texts.problems == ()
    assert thresholds_of(tables.context.strategy_thresholds) == thresholds_of(texts.context.strategy_thresholds)
    assert thresholds_of(tables.context.strategy_thresholds) == {"smart": Thresholds(80_000, 0, 5_000)}
    assert parse(tables.context.smart_config) == parse(texts.context.smart_config)
    assert [step.id for step in parse(tables.context.smart_config).passes] == ["results", "rest"]


def test_a_variable_gives_json_text(file: Path) -> None:
    loaded = load(file, TABLES, environ={"ROO_TUI_CONTEXT_STRATEGY_THRESHOLDS": '{"native": {"stop_tokens": 7}}'})
    assert thresholds_of(loaded.context.strategy_thresholds) == {"native": Thresholds(stop_tokens=7)}


@pytest.mark.parametrize(
    ("text", "key", "said"),
    [
        ("strategy_thresholds = '{'", "strategy_thresholds", "is not JSON: .* line 1"),
        ("strategy_thresholds = '[]'", "strategy_thresholds", "must be a JSON object or a table"),
        ("strategy_thresholds = 5", "strategy_thresholds", "is 5, but must be JSON text or a table"),
        ("strategy_thresholds.smart.begin = 1", "strategy_thresholds", "smart.begin is not a threshold"),
        ("strategy_thresholds.smart.stop_tokens = -1", "strategy_thresholds", "smart.stop_tokens is -1"),
        ("strategy_thresholds.smart.stop_tokens = nan", "strategy_thresholds", "a value that JSON has no form for"),
        ("strategy_thresholds.smart.at = 2026-01-01", "strategy_thresholds", "a value that JSON has no form for"),
        ("smart_config = '{'", "smart_config", "is not JSON"),
        ("smart_config.speed = 3", "smart_config", "passes: Field required; speed: there is no such field"),
        ("smart_config.passes = [{id = 'a', mode = 'both'}]", "smart_config", r"passes\[0\].mode: .*\"both\""),
        (
            "smart_config.passes = [{id = 'a', mode = 'batch', batch_config = {operation = 'drop'}}]",
            "smart_config",
            r"passes\[0\].batch_config.operation",
        ),
    ],
)
def test_invalid_content_names_file_key_and_field_and_the_rest_is_used(
    file: Path, text: str, key: str, said: str
) -> None:
    loaded = load(file, f"[context]\n{text}\nkeep_newest_turns = 3")
    (problem,) = loaded.problems
    assert problem.startswith(f"{file}: context.{key} ")
    with pytest.raises(SettingsError, match=said):
        raise SettingsError(problem)
    assert problem.endswith("; it is ignored.")
    assert loaded.value(f"context.{key}") == ""
    assert loaded.context.keep_newest_turns == 3


def test_the_previous_value_stays_in_force(file: Path) -> None:
    loaded = load(file, TABLES, environ={"ROO_TUI_CONTEXT_STRATEGY_THRESHOLDS": "{"})
    assert thresholds_of(loaded.context.strategy_thresholds)["smart"].trigger_tokens == 80_000
    (problem,) = loaded.problems
    assert problem.startswith("ROO_TUI_CONTEXT_STRATEGY_THRESHOLDS is not JSON")
    assert problem.endswith("; the previous value stays in force.")


def test_tables_stay_tables_and_keep_their_comments(file: Path) -> None:
    current = load(file, TABLES)
    passes = json.loads(current.context.smart_config)
    passes["passes"][1]["batch_config"]["operation"] = "keep"
    passes["passes"].append({"id": "new", "mode": "batch", "batchConfig": {"operation": "summarize"}})
    changed = settings.change(
        current,
        {
            "context.smart_config": json.dumps(passes),
            "context.strategy_thresholds": '{"smart": {"minGainTokens": 5000, "trigger_tokens": 70000}, "native": {}}',
        },
    )
    assert thresholds_of(changed.context.strategy_thresholds) == {
        "smart": Thresholds(70_000, 0, 5_000),
        "native": Thresholds(),
    }
    assert [step.id for step in parse(changed.context.smart_config).passes] == ["results", "rest", "new"]
    assert changed.origin.overrides == {}
    written = file.read_text(encoding="utf-8")
    for comment in ("# early", "# not for less", "# Big results first.", "# from here on", "# the last resort"):
        assert comment in written
    assert "[context.strategy_thresholds.smart]" in written
    assert written.count("[[context.smart_config.passes]]") == 3
    assert load(file).context == changed.context


def test_text_stays_text(file: Path) -> None:
    current = load(file, f"context.strategy_thresholds = '{THRESHOLDS}'  # mine")
    changed = settings.change(current, {"context.strategy_thresholds": '{"smart": {"stop_tokens": 9}}'})
    assert thresholds_of(changed.context.strategy_thresholds) == {"smart": Thresholds(stop_tokens=9)}
    assert isinstance(tomllib.loads(file.read_text())["context"]["strategy_thresholds"], str)
    assert "# mine" in file.read_text()


@pytest.mark.parametrize("nothing", [None, "", " ", "{}"])
def test_tables_can_be_emptied(file: Path, nothing: str | None) -> None:
    current = load(file, TABLES)
    changed = settings.change(current, {"context.strategy_thresholds": nothing, "context.smart_config": nothing})
    assert (changed.context.strategy_thresholds, changed.context.smart_config) == ("", "")
    assert changed.context.smart_preset == "custom"
    assert load(file).problems == ()
    assert "strategy_thresholds" not in file.read_text()


@pytest.mark.parametrize(
    "text",
    [
        """
[context.strategy_thresholds.smart]
stop_tokens = 1  # one
[appearance]
mouse = false
[context.strategy_thresholds.native]
stop_tokens = 2  # two
""",
        """
context.strategy_thresholds.smart.stop_tokens = 1  # one
context.strategy_thresholds.native.stop_tokens = 2  # two
appearance.mouse = false
""",
        """
appearance = {mouse = false}
[context]
strategy_thresholds = {smart = {stop_tokens = 1}, native = {stop_tokens = 2}}
smart_config = {passes = [{id = "a", mode = "batch", batch_config = {operation = "keep"}}]}
odd = nan
""",
        """
appearance.mouse = false
context.strategy_thresholds.smart.stop_tokens = 1
[[context.smart_config.passes]]
id = "a"
mode = "batch"
batch_config.operation = "keep"
""",
    ],
)
@pytest.mark.parametrize("names", [("native", "lossless"), ("smart", "native"), ("lossless",), ()])
def test_tables_in_every_form_are_changed_and_nothing_else_is(file: Path, text: str, names: tuple[str, ...]) -> None:
    thresholds = {name: {"stop_tokens": 7} for name in names}
    passes = {"passes": [{"id": name, "mode": "batch", "batch_config": {"operation": "keep"}} for name in names]}
    changed = settings.change(
        load(file, text),
        {"context.strategy_thresholds": json.dumps(thresholds), "context.smart_config": json.dumps(passes)},
    )
    assert json.loads(changed.context.strategy_thresholds or "{}") == thresholds
    assert json.loads(changed.context.smart_config) == passes
    assert changed.origin.overrides == {}
    assert changed.appearance.mouse is False
    assert set(tomllib.loads(file.read_text())) == {"version", "context", "appearance"}


def test_an_invalid_change_is_refused_and_names_the_field(file: Path) -> None:
    current = load(file, TABLES)
    with pytest.raises(SettingsError, match=r"context.smart_config is not valid: passes\[0\].id"):
        settings.change(current, {"context.smart_config": '{"passes": [{"id": "", "mode": "batch"}]}'})
    assert file.read_text(encoding="utf-8") == TABLES


_thresholds = st.dictionaries(
    st.sampled_from(["trigger_tokens", "stopTokens", "min_gain_tokens"]), st.integers(0, 10**6), max_size=3
)
_strategies = st.dictionaries(st.sampled_from(["smart", "native", "a b", "x.y", ""]), _thresholds, max_size=4)
_steps = st.fixed_dictionaries(
    {
        "id": st.uuids().map(str),
        "mode": st.just("batch"),
        "batch_config": st.fixed_dictionaries(
            {"operation": st.sampled_from(["keep", "summarize"])},
            optional={"summarizationConfig": st.fixed_dictionaries({"keep_first": st.integers(0, 9)})},
        ),
    },
    optional={"name": st.text("ab\n\"'\\é", max_size=5), "thresholds": _thresholds},
)
_passes = st.lists(_steps, max_size=4)


@given(_strategies, _strategies, _passes, _passes)
def test_whatever_is_saved_over_tables_is_what_is_read(
    tmp_path_factory: pytest.TempPathFactory, before: dict, after: dict, first: list, then: list
) -> None:
    file = tmp_path_factory.mktemp("any") / "settings.toml"
    document = {"context": {"strategy_thresholds": before, "smart_config": {"passes": first}}}
    current = load(file, tomlkit.dumps(document))
    assert current.problems == ()
    changed = settings.change(
        current,
        {"context.strategy_thresholds": json.dumps(after), "context.smart_config": json.dumps({"passes": then})},
    )
    assert thresholds_of(changed.context.strategy_thresholds) == thresholds_of(json.dumps(after))
    assert json.loads(changed.context.smart_config) == {"passes": then}
    assert load(file).context == changed.context
