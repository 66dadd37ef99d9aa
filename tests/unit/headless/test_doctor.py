import io
from pathlib import Path

import pytest

from roo_tui.domain.errors import MissingKey
from roo_tui.headless.doctor import examine, report
from roo_tui.headless.exit_codes import ExitCode
from roo_tui.settings import Settings


def found(settings: Settings, **probes) -> dict[str, tuple[str, str, str]]:
    findings = examine(settings, probes, environ={"TERM": "xterm"})
    return {finding.name: (finding.state, finding.detail, finding.advice) for finding in findings}


def test_what_is_there_is_found(home: str) -> None:
    findings = found(Settings(), key=lambda: "there is one")
    assert findings["key"] == ("found", "there is one", "")
    assert findings["data folder"][0] == "found"
    assert findings["settings"][0] == "found"
    assert not list(Path(home).iterdir())


def test_what_is_missing_comes_with_advice(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    findings = found(Settings())
    assert findings["git"][0] == findings["rg"][0] == "missing"
    assert "Install git" in findings["git"][2]


def test_problems_say_what_to_do_and_end_with_a_failure(home: str) -> None:
    def no_key() -> str:
        raise MissingKey("Set ANTHROPIC_API_KEY.")

    def broken() -> str:
        raise ImportError("no grammar")

    (Path(home) / "data").write_text("in the way")
    settings = Settings(problems=("settings.toml: context.fallback is “x”.",))
    findings = found(settings, key=no_key, grammars=broken)
    assert findings["key"] == ("problem", "not usable", "Set ANTHROPIC_API_KEY.")
    assert findings["grammars"][:2] == ("problem", "ImportError: no grammar")
    assert findings["data folder"][0] == "problem"
    assert findings["settings"][0] == "problem"
    out = io.StringIO()
    assert report(examine(settings, {"key": no_key}, environ={}), out) is ExitCode.FAILED
    assert "→ Set ANTHROPIC_API_KEY." in out.getvalue()
