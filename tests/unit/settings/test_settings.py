import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from roo_tui import paths, settings
from roo_tui.domain.errors import SettingsError
from roo_tui.settings import Settings


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "settings.toml"


def load(file: Path, text: str | None = None, **sources) -> Settings:
    if text is not None:
        file.write_text(text, encoding="utf-8")
    return settings.load(file=file, environ=sources.pop("environ", {}), **sources)


def test_without_any_file_the_defaults_hold(file: Path) -> None:
    loaded = load(file)
    assert loaded.context.auto_condense is True
    assert loaded.context.threshold_percent == 100
    assert loaded.context.condense_prompt == ""
    assert loaded.active.name == "default"
    assert loaded.active.model == "claude-sonnet-5-5"
    assert set(loaded.source.values()) == {"default"}
    assert loaded.problems == ()
    assert not file.exists()


def test_the_default_file_is_the_users(home: str) -> None:
    paths.settings_file().parent.mkdir(parents=True)
    paths.settings_file().write_text("context.threshold_percent = 70")
    assert settings.load().context.threshold_percent == 70


def test_each_source_beats_the_one_before(file: Path, tmp_path: Path) -> None:
    (tmp_path / ".roo").mkdir()
    project = settings.project_file(tmp_path)
    key = "context.threshold_percent"
    file.write_text("[context]\nthreshold_percent = 60")
    assert (load(file).context.threshold_percent, load(file).source[key]) == (60, "user file")
    project.write_text("[context]\nthreshold_percent = 70")
    loaded = load(file, workspace=tmp_path)
    assert (loaded.context.threshold_percent, loaded.source[key]) == (70, "project file")
    environ = {"ROO_TUI_CONTEXT_THRESHOLD_PERCENT": "80"}
    loaded = load(file, workspace=tmp_path, environ=environ)
    assert (loaded.context.threshold_percent, loaded.source[key]) == (80, "environment")
    loaded = load(file, workspace=tmp_path, environ=environ, overrides={key: 90})
    assert (loaded.context.threshold_percent, loaded.source[key]) == (90, "command line")


def test_profiles_are_read_and_one_is_chosen(file: Path) -> None:
    text = """
    profile = "local-4.5"
    [profiles."local-4.5"]
    model = "m"
    window = 32000
    threshold_percent = 80
    temperature = 1
    [profiles.plain]
    """
    loaded = load(file, text)
    assert loaded.active.name == "local-4.5"
    assert (loaded.active.window, loaded.active.threshold_percent, loaded.active.temperature) == (32000, 80, 1.0)
    assert sorted(loaded.profiles) == ["default", "local-4.5", "plain"]
    assert loaded.source["profiles.local-4.5.window"] == "user file"
    assert loaded.value("profiles.local-4.5.model") == "m"
    assert loaded.problems == ()


@pytest.mark.parametrize(
    ("text", "key", "used", "said"),
    [
        ("context.auto_condense = 'yes'", "context.auto_condense", True, "“yes”, but must be true or false"),
        ("context.threshold_percent = 150", "context.threshold_percent", 100, "from 5 to 100 or auto; 100 is used"),
        ("context.threshold_percent = 1", "context.threshold_percent", 5, "from 5 to 100 or auto; 5 is used"),
        ("context.threshold_percent = true", "context.threshold_percent", 100, "is true, but must be a whole number"),
        ("context.threshold_percent = 80.5", "context.threshold_percent", 100, "a whole number"),
        ("context.fallback = 'panic'", "context.fallback", "outline", "must be outline, truncation or error"),
        ("approvals.edit = 'never'", "approvals.edit", "ask", "must be allow, ask or deny"),
        ("approvals.allowed_commands = 'ls'", "approvals.allowed_commands", (), "must be a list of texts"),
        (
            "profiles.default.threshold_percent = 3",
            "profiles.default.threshold_percent",
            -1,
            "from 5 to 100, -1 or auto",
        ),
        ("profiles.default.window = -4", "profiles.default.window", 0, "or 0; 0 is used"),
        ("profiles.default.model = ' '", "profiles.default.model", "claude-sonnet-5-5", "text that is not blank"),
        ("profiles.default.temperature = 9", "profiles.default.temperature", None, "from 0 to 2; it is ignored"),
        ("profiles.default.base_url = 'ftp:x'", "profiles.default.base_url", "", "begins with http:// or https://"),
    ],
)
def test_an_invalid_value_falls_back_and_is_named(file: Path, text: str, key: str, used: object, said: str) -> None:
    loaded = load(file, text)
    assert loaded.value(key) == used
    (problem,) = loaded.problems
    assert str(file) in problem
    assert key in problem
    assert said in problem


def test_an_invalid_value_falls_back_to_the_source_before(file: Path) -> None:
    environ = {"ROO_TUI_CONTEXT_FALLBACK": "panic", "ROO_TUI_CONTEXT_AUTO_CONDENSE": "off"}
    loaded = load(file, "context.fallback = 'error'", environ=environ)
    assert loaded.context.fallback == "error"
    assert loaded.source["context.fallback"] == "user file"
    assert loaded.context.auto_condense is False
    assert "ROO_TUI_CONTEXT_FALLBACK is “panic”" in loaded.problems[0]


def test_an_unknown_profile_falls_back_to_the_default_one(file: Path) -> None:
    loaded = load(file, "profile = 'fast'")
    assert loaded.active.name == "default"
    assert "no profile “fast”" in loaded.problems[0]


def test_unknown_keys_are_reported(file: Path) -> None:
    loaded = load(file, "colour = 1\n[context]\ncondence = true\n[profiles]\nodd = 3\n[profiles.a]\nname = 'b'")
    assert [problem.split(": ")[1].split(" ")[0] for problem in loaded.problems] == [
        "colour", "context.condence", "profiles.odd", "profiles.a.name",
    ]  # fmt: skip


def test_a_setting_of_an_earlier_version_is_told_and_costs_nothing_else(file: Path) -> None:
    loaded = load(file, "[approvals]\nread = 'ask'\nnetwork = 'deny'\ncommand = 'allow'")
    assert (loaded.approvals.read, loaded.approvals.command) == ("ask", "allow")
    (problem,) = loaded.problems
    assert problem.startswith(f"{file}: approvals.network is no longer a setting and has no effect.")
    settings.save({"approvals.edit": "allow"}, file=file)
    assert tomllib.loads(file.read_text())["approvals"]["network"] == "deny"


def test_facts_of_models_are_read_by_the_models_id(file: Path) -> None:
    text = """
    [models."house/model-4.5"]
    window = 50_000
    input_usd = 1
    supports_images = false
    [models.plain]
    """
    loaded = load(file, text)
    assert loaded.problems == ()
    assert loaded.models == {
        "house/model-4.5": settings.ModelFacts(window=50_000, input_usd=1.0, supports_images=False),
        "plain": settings.ModelFacts(),
    }
    assert loaded.source["models.house/model-4.5.window"] == "user file"
    assert loaded.source["models.house/model-4.5.output_usd"] == "default"
    assert loaded.value("models.house/model-4.5.input_usd") == 1.0


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("models.m.window = 10", "models.m.window is 10, but must be a whole number from 1,000 to 100,000,000; it is"),
        ("models.m.input_usd = -1", "models.m.input_usd is -1, but must be a number from 0 to 10,000; it is ignored"),
        ("models.m.input_usd = nan", "models.m.input_usd is nan"),
        ("models.m.supports_images = 1", "models.m.supports_images is 1, but must be true or false"),
        ("models.m.price = 1", "models.m.price is not a setting"),
        ("models.m = 1", "models.m is not a setting"),
        ("models = 1", "models is not a setting"),
    ],
)
def test_facts_that_are_not_valid_are_named(file: Path, text: str, said: str) -> None:
    loaded = load(file, text)
    (problem,) = loaded.problems
    assert f"{file}: {said}" in problem
    assert loaded.models.get("m", settings.ModelFacts()) == settings.ModelFacts()


def test_facts_of_a_model_are_saved_and_taken_back(file: Path) -> None:
    key = "models.house/model-4.5"
    saved = settings.save({f"{key}.window": 9_000, f"{key}.output_usd": 3}, file=file)
    assert saved.models == {"house/model-4.5": settings.ModelFacts(window=9_000, output_usd=3.0)}
    assert settings.save({f"{key}.window": None}, file=file).models["house/model-4.5"].window is None
    assert settings.save({key: None}, file=file).models == {}


def test_a_project_may_not_say_what_a_model_costs(file: Path, tmp_path: Path) -> None:
    project = settings.project_file(tmp_path)
    project.parent.mkdir()
    project.write_text("[models.m]\ninput_usd = 0")
    loaded = load(file, workspace=tmp_path)
    assert loaded.models == {}
    assert any("models.m.input_usd" in problem for problem in loaded.problems)


def test_only_what_needs_it_waits_for_pydantic(file: Path) -> None:
    def loaded_after(text: str) -> bool:
        file.write_text(text)
        code = f"from pathlib import Path; from roo_tui import settings; settings.load(file=Path({str(file)!r}))"
        code += "; import sys; print('pydantic' in sys.modules)"
        run = subprocess.run([sys.executable, "-c", code], capture_output=True, check=True)
        return run.stdout.strip() == b"True"

    assert not loaded_after("[models.m]\nwindow = 9000\n[context.strategy_thresholds.smart]\nstop_tokens = 3")
    assert loaded_after("[[context.smart_config.passes]]\nid = 'a'")


@pytest.mark.parametrize("content", [b"[context\n", b"\xff\xfe\x00", b"a = " + b"[" * 5000])
def test_a_broken_file_gives_defaults_and_is_not_overwritten(file: Path, content: bytes) -> None:
    file.write_bytes(content)
    loaded = load(file)
    assert loaded.context == Settings().context
    assert str(file) in loaded.problems[0]
    with pytest.raises(SettingsError, match="not overwritten"):
        settings.save({"context.threshold_percent": 80}, file=file)
    assert file.read_bytes() == content


def test_an_unreadable_file_gives_defaults(file: Path) -> None:
    file.mkdir()
    assert "cannot be read" in load(file).problems[0]
    with pytest.raises(SettingsError):
        settings.save({"context.threshold_percent": 80}, file=file)


def test_a_newer_file_is_read_but_not_changed(file: Path) -> None:
    loaded = load(file, "version = 2\ncontext.threshold_percent = 60")
    assert loaded.context.threshold_percent == 60
    assert "newer" in loaded.problems[0]
    with pytest.raises(SettingsError, match="newer"):
        settings.save({"context.threshold_percent": 80}, file=file)


def test_a_project_may_not_loosen_approvals_or_redirect_the_key(file: Path, tmp_path: Path) -> None:
    project = settings.project_file(tmp_path)
    project.parent.mkdir()
    project.write_text(
        "profile = 'x'\n[approvals]\ncommand = 'allow'\n[profiles.default]\nbase_url = 'http://127.0.0.1'\n"
        "[context]\nthreshold_percent = 70\n[checkpoints]\nenabled = false"
    )
    loaded = load(file, workspace=tmp_path)
    assert (loaded.approvals.command, loaded.active.base_url) == ("ask", "")
    assert (loaded.context.threshold_percent, loaded.checkpoints.enabled) == (70, False)
    assert len(loaded.problems) == 4


def test_the_providers_variable_fills_blank_base_urls_only(file: Path) -> None:
    text = "[profiles.own]\nbase_url = 'http://127.0.0.1:1'"
    loaded = load(file, text, environ={"ANTHROPIC_BASE_URL": "http://127.0.0.1:2"})
    assert loaded.profiles["own"].base_url == "http://127.0.0.1:1"
    assert loaded.profiles["default"].base_url == "http://127.0.0.1:2"
    assert loaded.source["profiles.default.base_url"] == "environment"


def test_the_command_line_changes_the_profile_it_chooses(file: Path) -> None:
    loaded = load(file, "[profiles.fast]\nmodel = 'a'", overrides={"active.model": "b", "profile": "fast"})
    assert (loaded.active.name, loaded.active.model) == ("fast", "b")
    assert loaded.profiles["default"].model == "claude-sonnet-5-5"


def test_saving_keeps_comments_order_and_unknown_keys(file: Path) -> None:
    text = """# mine
[context]
threshold_percent = 60  # not too late
mystery = 1

[profiles.fast]
model = "a"
"""
    load(file, text)
    saved = settings.save({"context.threshold_percent": 80, "context.auto_condense": False}, file=file)
    assert (saved.context.threshold_percent, saved.context.auto_condense) == (80, False)
    written = file.read_text()
    assert written.startswith("# mine")
    assert "threshold_percent = 80  # not too late" in written
    assert "mystery = 1" in written
    assert tomllib.loads(written)["version"] == 1


def test_a_new_profile_does_not_swallow_the_keys_below(file: Path) -> None:
    load(file, "profiles.fast.model = 'a'\ncontext.keep_newest_turns = 2  # two\nprofiles.slow.model = 'b'\n")
    saved = settings.save({"profiles.new.model": "m"}, file=file)
    assert {name: profile.model for name, profile in saved.profiles.items() if name != "default"} == {
        "fast": "a", "slow": "b", "new": "m",
    }  # fmt: skip
    assert saved.context.keep_newest_turns == 2
    assert "# two" in file.read_text()


def test_saving_makes_the_file_and_can_take_a_value_back(file: Path) -> None:
    settings.save({"profiles.my.own.model": "m", "profile": "my.own", "context.threshold_percent": 50}, file=file)
    assert load(file).active.model == "m"
    settings.save({"context.threshold_percent": None, "profile": None, "profiles.my.own": None}, file=file)
    assert load(file).source["context.threshold_percent"] == "default"
    assert list(load(file).profiles) == ["default"]


@pytest.mark.parametrize("changes", [{"context.threshold_percent": 3}, {"context.nothing": 1}, {"nothing": None}])
def test_an_invalid_change_is_refused_and_nothing_is_written(file: Path, changes: dict[str, object]) -> None:
    with pytest.raises(SettingsError, match=next(iter(changes))):
        settings.save({"context.auto_condense": False, **changes}, file=file)
    assert not file.exists()


@given(st.text(st.characters(codec=None, exclude_categories=()), max_size=60) | st.text('\n"\\\r\t ', max_size=20))
def test_any_condense_prompt_comes_back_as_it_was_saved(tmp_path_factory: pytest.TempPathFactory, text: str) -> None:
    file = tmp_path_factory.mktemp("any") / "settings.toml"
    expected = text.encode("utf-8", "surrogatepass").decode("utf-8", "surrogatepass")
    expected = "".join("\ufffd" if "\ud800" <= letter <= "\udfff" else letter for letter in expected)
    assert settings.save({"context.condense_prompt": text}, file=file).context.condense_prompt == expected


def test_a_change_beats_every_other_source_and_the_rest_stays(file: Path, tmp_path: Path) -> None:
    environ = {"ROO_TUI_CONTEXT_THRESHOLD_PERCENT": "80", "ROO_TUI_CONTEXT_FALLBACK": "error"}
    current = load(file, "[profiles.fast]", environ=environ, overrides={"active.model": "m"})
    changed = settings.change(current, {"context.threshold_percent": 70})
    assert changed.context.threshold_percent == 70
    assert changed.context.fallback == "error"
    assert changed.active.model == "m"
    assert load(file).context.threshold_percent == 70


def test_choosing_another_profile_leaves_the_command_lines_model_behind(file: Path) -> None:
    current = load(file, "[profiles.fast]\nmodel = 'quick'", overrides={"profile": "default", "active.model": "m"})
    changed = settings.change(current, {"profile": "fast"}, keep=False)
    assert (changed.active.name, changed.active.model) == ("fast", "quick")
    assert load(file).profile == "default"


def test_a_change_of_the_active_profile_can_be_kept(file: Path) -> None:
    current = load(file, overrides={"active.model": "m"})
    changed = settings.change(current, {"active.model": "n"})
    assert changed.active.model == "n"
    assert load(file).profiles["default"].model == "n"


def test_every_setting_has_words_for_the_form_and_a_valid_default() -> None:
    for field in settings.fields():
        assert field.title
        assert field.sentence.endswith(".")
        assert field.check(field.default) == field.default
        assert settings.field_of(field.key.replace("*", "some.name")) == field
    assert settings.field_of("profiles.*") is None
    assert settings.field_of("context") is None


@pytest.mark.parametrize(
    ("key", "text", "value"),
    [
        ("context.auto_condense", "No", False),
        ("context.threshold_percent", " 75 ", 75),
        ("profiles.a.temperature", "", None),
        ("profiles.a.temperature", "0.5", 0.5),
        ("approvals.allowed_commands", "git status, ls", ("git status", "ls")),
        ("context.condense_prompt", " as typed ", " as typed "),
    ],
)
def test_a_form_field_is_parsed(key: str, text: str, value: object) -> None:
    field = settings.field_of(key)
    assert field is not None
    assert field.parse(text) == value


def test_a_form_field_that_is_not_a_number_is_refused() -> None:
    field = settings.field_of("context.threshold_percent")
    assert field is not None
    with pytest.raises(ValueError, match="is “many”, but must be a whole number from 5 to 100"):
        field.parse("many")
