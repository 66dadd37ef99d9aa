import os

from roo_tui.workspace.files import ChangedFile, Workspace


def _look(workspace: Workspace, name: str) -> None:
    location = workspace.resolve(name)
    workspace.recent.note(location.path, location.shown, workspace.read_text(location).digest)


def test_only_files_with_other_content_count_as_changed(workspace: Workspace) -> None:
    root = workspace.root
    for name in ("same", "touched", "edited", "deleted"):
        (root / name).write_text("old")
        _look(workspace, name)
    os.utime(root / "touched", ns=(1, 1))
    (root / "edited").write_text("new!")
    (root / "deleted").unlink()
    assert workspace.recent.changed() == (ChangedFile("deleted", deleted=True), ChangedFile("edited"))


def test_a_changed_file_is_told_until_the_agent_looks_again(workspace: Workspace) -> None:
    (workspace.root / "a").write_text("1")
    _look(workspace, "a")
    (workspace.root / "a").write_text("22")
    assert workspace.recent.changed() == workspace.recent.changed() == (ChangedFile("a"),)
    _look(workspace, "a")
    assert workspace.recent.changed() == ()


def test_what_is_remembered_and_told_is_bounded(workspace: Workspace) -> None:
    for number in range(600):
        workspace.recent.note(workspace.root / f"gone{number}", f"gone{number}", "")
    changed = workspace.recent.changed(limit=1000)
    assert len(changed) == 500
    assert changed[0].path == "gone599"
    assert len(workspace.recent.changed()) == 20
