import os
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from roo_tui.domain.errors import PathRefused
from roo_tui.workspace.files import Workspace

_PARTS = st.lists(st.sampled_from(["a", "b", "..", ".", "link_in", "link_out", "", "c.txt"]), max_size=6)


def test_relative_absolute_and_dotted_paths_of_one_file_are_the_same(workspace: Workspace) -> None:
    (workspace.root / "src").mkdir()
    written = ["src/a.py", "./src/../src/a.py", str(workspace.root / "src" / "a.py"), "src//a.py"]
    assert {workspace.resolve(path).shown for path in written} == {"src/a.py"}


def test_dots_that_lead_out_are_outside(workspace: Workspace) -> None:
    location = workspace.resolve("src/../../secret")
    assert not location.inside
    assert location.shown == str(workspace.root.parent / "secret")
    assert not workspace.is_inside("../work2/x")


def test_a_link_that_leads_out_is_outside_also_for_files_below_it(workspace: Workspace, tmp_path: Path) -> None:
    outside = tmp_path / "elsewhere"
    outside.mkdir()
    (workspace.root / "door").symlink_to(outside)
    (workspace.root / "file").symlink_to("/etc/passwd")
    assert not workspace.is_inside("door/x.txt")
    assert not workspace.is_inside("file")


def test_a_link_within_the_workspace_is_inside_and_shown_as_its_target(workspace: Workspace) -> None:
    (workspace.root / "real.txt").write_text("x")
    (workspace.root / "alias.txt").symlink_to("real.txt")
    location = workspace.resolve("alias.txt")
    assert (location.inside, location.shown, location.names) == (True, "real.txt", ("alias.txt", "real.txt"))


def test_a_workspace_opened_through_a_link_knows_both_of_its_names(workspace: Workspace, tmp_path: Path) -> None:
    alias = tmp_path / "alias"
    alias.symlink_to(workspace.root)
    other = Workspace(alias)
    assert other.root == workspace.root
    assert other.resolve(alias / "x.py").shown == "x.py"


def test_a_link_loop_is_no_crash(workspace: Workspace) -> None:
    (workspace.root / "loop").symlink_to("loop")
    location = workspace.resolve("loop/x")
    with pytest.raises(PathRefused):
        workspace.read_text(location)


@pytest.mark.parametrize("path", ["a\0b", "\ud800"])
def test_names_no_file_can_have_are_refused(workspace: Workspace, path: str) -> None:
    with pytest.raises(PathRefused) as caught:
        workspace.resolve(path)
    assert caught.value.reason == "bad_path"


def test_the_home_folder_is_outside(workspace: Workspace) -> None:
    assert workspace.resolve("~/x").path == Path(os.path.realpath(Path.home() / "x"))


@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(parts=_PARTS)
def test_inside_is_exactly_what_the_real_path_says(workspace: Workspace, tmp_path: Path, parts: list[str]) -> None:
    root = workspace.root
    (root / "a" / "b").mkdir(parents=True, exist_ok=True)
    for name, target in (("link_in", root / "a"), ("link_out", tmp_path)):
        if not (root / name).is_symlink():
            (root / name).symlink_to(target)
    path = "/".join(parts).lstrip("/")
    real = os.path.realpath(root / path)
    location = workspace.resolve(path)
    assert str(location.path) == real
    assert location.inside == (real == str(root) or real.startswith(f"{root}/"))
    if location.inside:
        assert workspace.resolve(location.shown) == workspace.resolve(location.path)
        assert location.shown in location.names


def test_ignored_paths_are_hidden_under_every_name(workspace: Workspace) -> None:
    root = workspace.root
    (root / ".rooignore").write_text("secret/\n*.pem\n!open.pem\n")
    (root / "secret").mkdir()
    (root / "secret" / "key.txt").write_text("k")
    (root / "alias.txt").symlink_to("secret/key.txt")
    (root / "secret" / "way_out").symlink_to("../public.txt")
    hidden = ["secret", "secret/key.txt", "secret/new/file", "x/y.pem", "alias.txt", "secret/way_out", "a/../secret/z"]
    assert [path for path in hidden if not workspace.is_ignored(path)] == []
    assert not any(workspace.is_ignored(path) for path in ["open.pem", "secrets", ".", "../secret"])
    for path in ("secret/key.txt", "alias.txt"):
        with pytest.raises(PathRefused, match=r"\.rooignore"):
            workspace.read_text(path)
    with pytest.raises(PathRefused):
        workspace.write_text("secret/new.txt", "x")


def test_the_ignore_file_is_read_again_when_it_changes(workspace: Workspace) -> None:
    assert not workspace.is_ignored("a.txt")
    (workspace.root / ".rooignore").write_text("a.txt\n")
    assert workspace.is_ignored("a.txt")
    (workspace.root / ".rooignore").write_text("longer.txt\n")
    assert not workspace.is_ignored("a.txt")
    (workspace.root / ".rooignore").unlink()
    assert not workspace.is_ignored("longer.txt")


def test_a_line_that_is_no_pattern_spoils_only_itself(workspace: Workspace) -> None:
    (workspace.root / ".rooignore").write_bytes(b"!\n\xff\xfe\na.txt\n/\n")
    assert workspace.is_ignored("a.txt")


@pytest.mark.parametrize(
    "path", [".rooignore", ".roo/rules/x.md", ".git/config", "sub/.git/hooks/x", ".vscode/settings.json", "AGENTS.md"]
)
def test_what_steers_the_agent_is_protected(workspace: Workspace, path: str) -> None:
    assert workspace.is_protected(path)


@pytest.mark.parametrize("path", ["README.md", "src/roo.py", ".gitignore", ".github/x.yml", "../.roo/x"])
def test_ordinary_files_are_not_protected(workspace: Workspace, path: str) -> None:
    assert not workspace.is_protected(path)
