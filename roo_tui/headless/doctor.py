"""Run `roo-tui doctor`: report what is installed, what is missing, and how to fix it."""

import os
import platform
import shutil
import subprocess
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, TextIO

from roo_tui import paths
from roo_tui.domain.errors import RooError
from roo_tui.headless.exit_codes import ExitCode
from roo_tui.plain_text import one_line
from roo_tui.settings import Settings

Probe = Callable[[], str]


@dataclass(frozen=True, slots=True)
class Finding:
    """The result of one check. Something `missing` is optional, a `problem` has to be fixed; `advice` says how."""

    name: str
    state: Literal["found", "missing", "problem"]
    detail: str
    advice: str = ""


def examine(settings: Settings, probes: Mapping[str, Probe], *, environ: Mapping[str, str]) -> list[Finding]:
    """Run every check and return the findings.

    `probes` are checks of other packages by name. Each returns what it found, or raises an error that says what to do.
    """
    return [
        Finding("Python", "found", platform.python_version()),
        _program("git", "Install git; without it, a rewind cannot restore files."),
        _program("rg", "Install ripgrep; without it, searches are slower."),
        _terminal(environ),
        *(_probed(name, probe) for name, probe in probes.items()),
        _writable("data folder", paths.data_dir()),
        _writable("log folder", paths.state_dir()),
        *_settings(settings),
    ]


def report(findings: list[Finding], out: TextIO) -> ExitCode:
    """Print the findings; the exit code says whether there is a problem."""
    width = max(len(finding.name) for finding in findings)
    for finding in findings:
        print(f"{finding.state:<8} {finding.name:<{width}}  {one_line(finding.detail, 300)}", file=out)
        if finding.advice:
            print(f"{'':<8} {'':<{width}}  → {one_line(finding.advice, 300)}", file=out)
    return ExitCode.FAILED if any(finding.state == "problem" for finding in findings) else ExitCode.OK


def _program(name: str, advice: str) -> Finding:
    path = shutil.which(name)
    if path is None:
        return Finding(name, "missing", "not on the PATH", advice)
    try:
        run = subprocess.run([path, "--version"], capture_output=True, text=True, errors="replace", timeout=10)
    except (OSError, subprocess.TimeoutExpired) as error:
        return Finding(name, "missing", f"{path} does not run ({error})", advice)
    return Finding(name, "found", run.stdout.partition("\n")[0] or path)


def _terminal(environ: Mapping[str, str]) -> Finding:
    term = environ.get("TERM", "")
    if not sys.stdout.isatty():
        return Finding("terminal", "found", "none; the output goes to a file or a pipe")
    if term in ("", "dumb"):
        return Finding(
            "terminal", "problem", f"TERM is “{term}”", "Use a terminal that can move the cursor, or run with -p."
        )
    if environ.get("COLORTERM", "") in ("truecolor", "24bit"):
        return Finding("terminal", "found", f"{term}, 16 million colours")
    colours = "256 colours" if "256" in term else "16 colours"
    return Finding("terminal", "found", f"{term}, {colours}", "If the terminal can show more, set COLORTERM=truecolor.")


def _probed(name: str, probe: Probe) -> Finding:
    try:
        return Finding(name, "found", probe())
    except RooError as error:
        return Finding(name, "problem", "not usable", str(error))
    except Exception as error:  # a broken installation may fail in any way
        return Finding(name, "problem", f"{type(error).__name__}: {error}", "Reinstall roo-tui.")


def _writable(name: str, folder: Path) -> Finding:
    existing = next((part for part in (folder, *folder.parents) if part.exists()), folder)
    if existing.is_dir() and os.access(existing, os.W_OK | os.X_OK):
        return Finding(name, "found", str(folder))
    return Finding(
        name,
        "problem",
        f"{folder} is not writable",
        f"Make {existing} writable, or set ROO_TUI_HOME to another folder.",
    )


def _settings(settings: Settings) -> list[Finding]:
    if not settings.problems:
        file = paths.settings_file()
        return [Finding("settings", "found", str(file) if file.exists() else f"defaults; {file} does not exist")]
    return [Finding("settings", "problem", problem) for problem in settings.problems]
