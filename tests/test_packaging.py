"""The wheel holds what the program needs, and runs where no checkout is."""

import contextlib
import os
import pty
import subprocess
import sys
import sysconfig
import venv
import zipfile
from pathlib import Path

import pytest

from roo_tui import __version__, prompt_files

ROOT = Path(__file__).parent.parent

SITE = "import sysconfig; print(sysconfig.get_path('purelib'))"

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
def environment(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An environment that holds only the wheel, and finds what that depends on where these tests do."""
    folder = tmp_path_factory.mktemp("environment")
    venv.create(folder, with_pip=False)
    python = folder / "bin" / "python"
    # Without a network there is nothing to install from. A path file adds the other packages, but not what their own
    # path files name: an editable installation of roo-tui stays out.
    site = Path(subprocess.run([python, "-c", SITE], capture_output=True, text=True, check=True).stdout.strip())
    (site / "dependencies.pth").write_text(sysconfig.get_path("purelib") + "\n", encoding="utf-8")
    command = [sys.executable, "-m", "pip", "--python", str(python), "install", "-q", "--no-deps", "--no-index"]
    run = subprocess.run([*command, "--no-compile", "--ignore-installed", str(wheel)], capture_output=True, text=True)
    assert run.returncode == 0, run.stderr
    return folder


def started(environment: Path, home: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    """Run the installed program in a folder that is no checkout."""
    environ = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    return subprocess.run(
        [str(environment / "bin" / "roo-tui"), *arguments],
        cwd=home,
        env=environ | {"ROO_TUI_HOME": str(home / "home"), "ANTHROPIC_API_KEY": "not-a-key"},
        capture_output=True,
        text=True,
    )


def test_the_wheel_holds_every_file_of_the_package(wheel: Path) -> None:
    names = set(zipfile.ZipFile(wheel).namelist())
    expected = {
        path.relative_to(ROOT).as_posix()
        for path in (ROOT / "roo_tui").rglob("*")
        if path.is_file() and path.suffix != ".pyc"
    }
    expected |= {f"roo_tui/_{path.relative_to(ROOT).as_posix()}" for path in (ROOT / "prompts").rglob("*.md")}
    assert expected <= names
    assert "roo_tui/py.typed" in names
    assert any(name.endswith("licenses/LICENSE") for name in names)
    assert {name.partition("/")[0] for name in names} == {"roo_tui", f"roo_tui-{__version__}.dist-info"}


def test_the_installed_program_finds_its_prompts_and_data(environment: Path, tmp_path: Path) -> None:
    python = environment / "bin" / "python"
    environ = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    run = subprocess.run(
        [python, "-c", CHECK, str(environment)], cwd=tmp_path, env=environ, capture_output=True, text=True
    )
    assert run.returncode == 0, run.stderr
    assert int(run.stdout) == len(prompt_files.names()) > 100


def test_the_installed_program_tells_its_version_and_finds_what_it_needs(environment: Path, tmp_path: Path) -> None:
    assert started(environment, tmp_path, "--version").stdout == f"roo-tui {__version__}\n"
    doctor = started(environment, tmp_path, "doctor")
    assert doctor.returncode == 0, doctor.stdout + doctor.stderr


def test_the_installed_program_opens_its_screen(environment: Path, tmp_path: Path) -> None:
    leader, follower = pty.openpty()
    environ = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    program = subprocess.Popen(
        [str(environment / "bin" / "roo-tui"), "--demo"],
        stdin=follower,
        stdout=follower,
        stderr=follower,
        cwd=tmp_path,
        env=environ | {"ROO_TUI_HOME": str(tmp_path / "home"), "TERM": "xterm-256color"},
    )
    os.close(follower)
    try:
        shown = b""
        while b"DEMO" not in shown:
            shown += os.read(leader, 65_536)
        os.write(leader, b"\x11")  # Ctrl+Q
        with contextlib.suppress(OSError):  # the terminal is gone as soon as the program has left
            while os.read(leader, 65_536):
                pass
        assert program.wait(timeout=40) == 0
    finally:
        program.kill()
        program.wait()
        os.close(leader)
