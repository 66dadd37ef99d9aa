import os
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from roo_tui.domain.errors import PathRefused
from roo_tui.workspace import text_files
from roo_tui.workspace.files import Workspace


def test_line_ends_mark_and_permissions_are_kept(workspace: Workspace) -> None:
    path = workspace.root / "run.sh"
    path.write_bytes(b"\xef\xbb\xbfone\r\ntwo\r\n")
    path.chmod(0o755)
    file = workspace.read_text("run.sh")
    assert (file.text, file.line_ends, file.has_bom) == ("one\r\ntwo\r\n", "\r\n", True)
    digest = workspace.write_text("run.sh", "one\n2\n", like=file)
    assert path.read_bytes() == b"\xef\xbb\xbfone\r\n2\r\n"
    assert path.stat().st_mode & 0o777 == 0o755
    assert digest == workspace.read_text("run.sh").digest


def test_mixed_line_ends_are_written_as_given(workspace: Workspace) -> None:
    (workspace.root / "a").write_bytes(b"one\r\ntwo\n")
    file = workspace.read_text("a")
    assert file.line_ends == "mixed"
    workspace.write_text("a", "1\r\n2\n", like=file)
    assert (workspace.root / "a").read_bytes() == b"1\r\n2\n"


def test_a_link_stays_a_link_and_its_target_is_written(workspace: Workspace) -> None:
    (workspace.root / "real").write_text("old")
    (workspace.root / "alias").symlink_to("real")
    workspace.write_text("alias", "new")
    assert (workspace.root / "alias").is_symlink()
    assert (workspace.root / "real").read_text() == "new"


def test_latin_1_can_be_read_but_not_edited(workspace: Workspace) -> None:
    (workspace.root / "a").write_bytes("naïve café".encode("latin-1"))
    file = workspace.read_text("a")
    assert (file.text, file.encoding, file.editable) == ("naïve café", "windows-1252", False)
    with pytest.raises(PathRefused, match="not UTF-8"):
        workspace.read_for_edit("a")


def test_utf_16_with_a_mark_can_be_read(workspace: Workspace) -> None:
    (workspace.root / "a").write_bytes("héllo\n".encode("utf-16"))
    assert workspace.read_text("a").text == "héllo\n"
    assert not workspace.read_text("a").editable


def test_what_is_no_text_is_refused_with_its_reason(workspace: Workspace) -> None:
    (workspace.root / "b").write_bytes(b"ELF\0\0")
    (workspace.root / "d").mkdir()
    os.mkfifo(workspace.root / "pipe")
    reasons = {}
    for path in ("b", "d", "pipe", "missing", "b/below", "/dev/zero"):
        with pytest.raises(PathRefused) as caught:
            workspace.read_text(path)
        reasons[path] = caught.value.reason
    assert reasons == {
        "b": "binary",
        "d": "folder",
        "pipe": "special",
        "missing": "missing",
        "b/below": "missing",
        "/dev/zero": "special",
    }
    with pytest.raises(PathRefused, match="too large"):
        workspace.read_text("b", limit=3)


def test_a_lone_surrogate_is_written_as_a_replacement_character(workspace: Workspace) -> None:
    workspace.write_text("deep/er/a", "x\ud800y")
    assert (workspace.root / "deep/er/a").read_text(encoding="utf-8") == "x\ufffdy"


@pytest.fixture
def read_only_folder() -> Iterator[Path]:
    """A folder nobody may write to, root included: its user is changed for the time of the test."""
    folder = Path(tempfile.mkdtemp(prefix="roo-tui-read-only-"))
    (folder / "a.txt").write_text("old")
    folder.chmod(0o555)
    (folder / "a.txt").chmod(0o444)
    is_root = os.geteuid() == 0
    if is_root:
        os.seteuid(65534)
    yield folder
    if is_root:
        os.seteuid(0)
    folder.chmod(0o755)
    (folder / "a.txt").unlink()
    folder.rmdir()


def test_a_read_only_folder_can_be_read_and_says_why_it_is_not_written(read_only_folder: Path) -> None:
    workspace = Workspace(read_only_folder)
    assert workspace.read_text("a.txt").text == "old"
    for path in ("a.txt", "new.txt", "sub/new.txt"):
        with pytest.raises(PathRefused, match="Permission denied"):
            workspace.write_text(path, "new")
    assert sorted(path.name for path in read_only_folder.iterdir()) == ["a.txt"]


@settings(max_examples=150, deadline=None)
@given(text=st.text(st.characters(exclude_categories=["Cs"]), max_size=200), bom=st.booleans(), crlf=st.booleans())
def test_a_text_read_and_written_back_is_the_same_bytes(text: str, bom: bool, crlf: bool) -> None:
    if crlf:
        text = text.replace("\r", "").replace("\n", "\r\n")
    data = (b"\xef\xbb\xbf" if bom else b"") + text.removeprefix("\ufeff").encode()
    file = text_files.decode(data)
    assert file.fit(file.text).encode() == data


@settings(max_examples=150, deadline=None)
@given(data=st.binary(max_size=300))
def test_any_bytes_can_be_decoded(data: bytes) -> None:
    file = text_files.decode(data)
    assert file.encoding in ("utf-8", "utf-16", "windows-1252")
    assert file.text.encode() is not None
