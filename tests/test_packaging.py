"""The wheel holds what the program needs, and runs where no checkout is."""

import os
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from roo_tui import prompt_files

ROOT = Path(__file__).parent.parent

CHECK = """
import sys
from pathlib import Path
import roo_tui
from roo_tui import prompt_files

package = Path(roo_tui.__file__).parent
assert package.is_relative_to(sys.argv[1]), package
assert prompt_files.folder() == package / "_prompts"
for name in prompt_files.names():
    prompt_files.render(name, **{value: "x" for value in prompt_files.placeholders(name)})
for name in ("o200k_base.tiktoken.xz", "NOTICE"):
    assert (package / "data" / name).stat().st_size > 100, name
print(len(prompt_files.names()))
"""


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("wheel")
    command = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(folder)]
    run = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    assert run.returncode == 0, run.stderr
    return next(folder.glob("*.whl"))


@pytest.fixture(scope="module")
def installed(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    target = tmp_path_factory.mktemp("installed")
    command = [sys.executable, "-m", "pip", "install", "-q", "--no-deps", "--no-index", "--no-compile"]
    run = subprocess.run([*command, "--target", str(target), str(wheel)], capture_output=True, text=True)
    assert run.returncode == 0, run.stderr
    return target


def test_the_wheel_holds_every_file_of_the_package(wheel: Path) -> None:
    names = set(zipfile.ZipFile(wheel).namelist())
    expected = {
        path.relative_to(ROOT).as_posix()
        for path in (ROOT / "roo_tui").rglob("*")
        if path.is_file() and path.suffix != ".pyc"
    }
    expected |= {f"roo_tui/_{path.relative_to(ROOT).as_posix()}" for path in (ROOT / "prompts").rglob("*.md")}
    assert expected <= names
    assert any(name.endswith("licenses/LICENSE") for name in names)
    assert not [name for name in names if name.startswith("tests")]


def test_the_installed_program_finds_its_prompts_and_data(installed: Path, tmp_path: Path) -> None:
    environ = {**os.environ, "PYTHONPATH": str(installed)}
    run = subprocess.run(
        [sys.executable, "-c", CHECK, str(installed)], cwd=tmp_path, env=environ, capture_output=True, text=True
    )
    assert run.returncode == 0, run.stderr
    assert int(run.stdout) == len(prompt_files.names()) > 100


def test_the_installed_program_starts(installed: Path, tmp_path: Path) -> None:
    environ = {**os.environ, "PYTHONPATH": str(installed)}
    run = subprocess.run(
        [sys.executable, "-m", "roo_tui", "--version"], cwd=tmp_path, env=environ, capture_output=True, text=True
    )
    assert run.stdout.startswith("roo-tui ")
    assert (installed / "bin" / "roo-tui").is_file()
