"""Where keys are found."""

from pathlib import Path

import pytest

from roo_tui.domain.errors import MissingKey
from roo_tui.llm.keys import find_key, needs_key


def key_file(tmp_path: Path, text: str, mode: int = 0o600) -> Path:
    file = tmp_path / "keys.toml"
    file.write_text(text, encoding="utf-8")
    file.chmod(mode)
    return file


def test_the_environment_wins_over_the_file(tmp_path: Path) -> None:
    file = key_file(tmp_path, 'anthropic = "from-file"')
    assert find_key("anthropic", environ={"ANTHROPIC_API_KEY": " from-environment\n"}, file=file) == "from-environment"
    assert find_key("anthropic", environ={"ANTHROPIC_API_KEY": ""}, file=file) == "from-file"


def test_no_key_anywhere_is_an_empty_one(tmp_path: Path) -> None:
    assert find_key("anthropic", environ={}, file=tmp_path / "none") == ""
    assert find_key("anthropic", environ={}, file=key_file(tmp_path, 'openai = "other"')) == ""


def test_a_provider_without_keys_never_looks_into_the_file(tmp_path: Path) -> None:
    assert find_key("demo", environ={}, file=key_file(tmp_path, "not toml")) == ""
    assert needs_key("anthropic")
    assert not needs_key("demo")


@pytest.mark.parametrize("mode", [0o644, 0o640, 0o604])
def test_a_file_others_can_read_is_refused_with_the_command_that_mends_it(tmp_path: Path, mode: int) -> None:
    file = key_file(tmp_path, 'anthropic = "sk-secret"', mode)
    with pytest.raises(MissingKey, match="chmod 600") as raised:
        find_key("anthropic", environ={}, file=file)
    assert "sk-secret" not in str(raised.value)


def test_a_broken_file_is_named_without_its_text(tmp_path: Path) -> None:
    with pytest.raises(MissingKey, match=r"keys\.toml") as raised:
        find_key("anthropic", environ={}, file=key_file(tmp_path, "sk-secret"))
    assert "sk-secret" not in str(raised.value)
    assert raised.value.__cause__ is None
