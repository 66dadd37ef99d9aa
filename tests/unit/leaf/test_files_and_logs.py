import logging
import logging.handlers
import stat
import warnings
from pathlib import Path

import pytest

from roo_tui import logs, paths
from roo_tui.atomic_file import write_text


def test_roo_tui_home_holds_everything_the_program_writes(home: str) -> None:
    places = [
        paths.home(), paths.data_dir(), paths.config_dir(), paths.state_dir(), paths.log_file(), paths.settings_file(),
        paths.database_file(), paths.checkpoints_dir(), paths.key_file(),
    ]  # fmt: skip
    assert all(place.is_relative_to(home) for place in places)
    assert len({paths.data_dir(), paths.config_dir(), paths.state_dir()}) == 3
    assert list(Path(home).iterdir()) == []


def test_without_roo_tui_home_files_go_where_the_system_wants_them(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("ROO_TUI_HOME")
    assert all(
        "roo-tui" in place.parts for place in (paths.home(), paths.data_dir(), paths.config_dir(), paths.state_dir())
    )


def test_roo_tui_home_may_be_relative(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("ROO_TUI_HOME", "here")
    assert paths.settings_file().is_relative_to(tmp_path / "here")


def test_write_text_makes_folders_and_sets_the_mode(tmp_path: Path) -> None:
    file = tmp_path / "a" / "b.txt"
    write_text(file, "one\r\ntwo", mode=0o600)
    assert file.read_bytes() == b"one\r\ntwo"
    assert stat.S_IMODE(file.stat().st_mode) == 0o600


def test_write_text_replaces_a_file_and_leaves_nothing_beside_it(tmp_path: Path) -> None:
    file = tmp_path / "a.txt"
    file.write_text("old")
    write_text(file, "new \ud800")
    assert file.read_text(encoding="utf-8") == "new \ufffd"
    assert [path.name for path in tmp_path.iterdir()] == ["a.txt"]


def test_write_text_follows_a_link(tmp_path: Path) -> None:
    (tmp_path / "real.txt").write_text("old")
    (tmp_path / "link.txt").symlink_to("real.txt")
    write_text(tmp_path / "link.txt", "new")
    assert (tmp_path / "link.txt").is_symlink()
    assert (tmp_path / "real.txt").read_text() == "new"


def test_a_failed_write_changes_nothing(tmp_path: Path) -> None:
    (tmp_path / "folder").mkdir()
    with pytest.raises(OSError):
        write_text(tmp_path / "folder", "text")
    assert [path.name for path in tmp_path.iterdir()] == ["folder"]


@pytest.fixture
def logging_restored():
    root = logging.getLogger()
    before, level, raising = root.handlers[:], root.level, logging.raiseExceptions
    yield
    for handler in [handler for handler in root.handlers if handler not in before]:
        root.removeHandler(handler)
        handler.close()
    root.setLevel(level)
    logging.captureWarnings(False)
    logging.raiseExceptions = raising


def test_logs_go_to_the_file_and_not_to_the_screen(logging_restored, capfd: pytest.CaptureFixture[str]) -> None:
    logs.set_up(logging.INFO)
    file = logs.set_up(logging.INFO)
    logging.getLogger("roo_tui.engine").info("turn %s took %s", "t1", "long")
    # Straight to the file: pytest cannot hand a captured record with half a character to another process.
    (to_file,) = (h for h in logging.getLogger().handlers if isinstance(h, logging.handlers.RotatingFileHandler))
    to_file.handle(logging.LogRecord("roo_tui", logging.INFO, "", 0, "half \ud800", None, None))
    logging.getLogger("somebody.else").info("noise")
    with warnings.catch_warnings():
        warnings.simplefilter("always")
        logging.captureWarnings(False)  # where another test began to capture, beginning again would do nothing
        logging.captureWarnings(True)
        warnings.warn("an old way of doing it", stacklevel=1)
    text = file.read_text(encoding="utf-8")
    assert text.count("turn t1") == 1
    assert "half \\ud800" in text
    assert "an old way" in text
    assert "noise" not in text
    assert capfd.readouterr() == ("", "")


def test_a_log_file_that_cannot_be_written_is_no_error(
    logging_restored, home: str, capfd: pytest.CaptureFixture[str]
) -> None:
    Path(home, "state").write_text("in the way")
    logs.set_up()
    logging.getLogger("roo_tui").error("lost")
    assert capfd.readouterr() == ("", "")
