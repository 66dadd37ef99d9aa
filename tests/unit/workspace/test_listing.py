from pathlib import Path

import pytest

from roo_tui.domain.errors import PathRefused
from roo_tui.workspace.files import Workspace
from roo_tui.workspace.listing import all_files, list_folder


def _make(root: Path, *names: str) -> None:
    for name in names:
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("x")


def _listed(workspace: Workspace, path: str = ".", *, recursive: bool = True, limit: int = 100) -> list[str]:
    return [str(name) for name in list_folder(workspace, path, recursive=recursive, limit=limit)[0]]


def test_upper_levels_come_first_and_folders_end_in_a_slash(workspace: Workspace) -> None:
    _make(workspace.root, "z.py", "a/b/deep.py", "a/x.py")
    assert _listed(workspace) == ["a/", "z.py", "a/b/", "a/x.py", "a/b/deep.py"]
    assert _listed(workspace, recursive=False) == ["a/", "z.py"]
    assert _listed(workspace, "a", recursive=False) == ["a/b/", "a/x.py"]


def test_git_ignore_files_of_every_level_count_and_the_deepest_decides(workspace: Workspace) -> None:
    root = workspace.root
    _make(root, "a.log", "keep/b.log", "keep/c.log", "out/x", "keep/out/y", "src/main.py")
    (root / ".gitignore").write_text("*.log\n/out/\n")
    (root / "keep" / ".gitignore").write_text("!b.log\n")
    files = [name for name in _listed(workspace) if not name.endswith("/")]
    assert files == [".gitignore", "keep/.gitignore", "keep/b.log", "src/main.py", "keep/out/y"]
    assert "a.log" in _listed(workspace, recursive=False)


def test_a_git_ignored_folder_can_be_listed_by_name(workspace: Workspace) -> None:
    _make(workspace.root, "build/lib/x.o", "node_modules/left/index.js")
    (workspace.root / ".gitignore").write_text("build/\n*.o\n")
    assert _listed(workspace, "build") == ["build/lib/", "build/lib/x.o"]
    assert _listed(workspace, "node_modules") == ["node_modules/left/", "node_modules/left/index.js"]
    assert _listed(workspace) == [".gitignore"]


def test_git_ignore_of_upper_folders_counts_in_a_listed_sub_folder(workspace: Workspace) -> None:
    _make(workspace.root, "src/a.py", "src/a.pyc")
    (workspace.root / ".gitignore").write_text("*.pyc\n")
    assert _listed(workspace, "src") == ["src/a.py"]


def test_roo_ignored_names_are_never_listed(workspace: Workspace) -> None:
    _make(workspace.root, "secret/key", "open", ".env")
    (workspace.root / ".rooignore").write_text("secret/\n.env\n")
    assert _listed(workspace) == _listed(workspace, recursive=False) == [".rooignore", "open"]
    with pytest.raises(PathRefused) as caught:
        _listed(workspace, "secret")
    assert caught.value.reason == "ignored"


def test_links_are_named_but_not_followed(workspace: Workspace) -> None:
    _make(workspace.root, "a/x")
    (workspace.root / "a" / "loop").symlink_to("..")
    assert _listed(workspace) == ["a/", "a/loop", "a/x"]


def test_a_listing_is_bounded_and_says_so(workspace: Workspace) -> None:
    _make(workspace.root, *(f"f{number:03}" for number in range(30)))
    names, more = list_folder(workspace, ".", recursive=True, limit=30)
    assert (len(names), more) == (30, False)
    names, more = list_folder(workspace, ".", recursive=True, limit=29)
    assert (len(names), more) == (29, True)


@pytest.mark.parametrize(("path", "reason"), [("nowhere", "missing"), ("file", "not_a_folder")])
def test_what_cannot_be_listed_is_refused(workspace: Workspace, path: str, reason: str) -> None:
    _make(workspace.root, "file")
    with pytest.raises(PathRefused) as caught:
        _listed(workspace, path)
    assert caught.value.reason == reason


async def test_all_files_are_relative_paths_without_folders(workspace: Workspace) -> None:
    _make(workspace.root, "src/a.py", "b.md", "__pycache__/x.pyc", ".git/config")
    assert await all_files(workspace) == ["b.md", "src/a.py"]
    assert await all_files(workspace, limit=1) == ["b.md"]


def test_a_folder_outside_is_listed_by_names_relative_to_it(workspace: Workspace, tmp_path: Path) -> None:
    _make(tmp_path / "other", "x/y")
    assert _listed(workspace, "../other") == ["x/", "x/y"]
