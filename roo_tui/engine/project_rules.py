"""The system prompt, and the project's own rules and slash commands, in the files Roo Code uses.

Rules: `AGENTS.md`, `.roorules`, `.roo/rules/*`. Commands: `.roo/commands/NAME.md` in the project, then in the
user's home, with optional front matter (`description: …`). Files that cannot be read are skipped and logged.
"""

import logging
import os
import platform
from dataclasses import dataclass
from pathlib import Path

from roo_tui.plain_text import well_formed
from roo_tui.prompt_files import render

log = logging.getLogger(__name__)

RULES_LIMIT = 60_000
_SINGLE_FILES = ("AGENTS.md", ".roorules")
_RULES_FOLDER = ".roo/rules"
_COMMANDS_FOLDER = ".roo/commands"


@dataclass(frozen=True, slots=True)
class CustomCommand:
    """A slash command of the project or the user. `text` is sent to the model in a `<command>` block of its own."""

    name: str
    description: str
    text: str

    def block(self) -> str:
        """Return the `<command>` block."""
        return render("user_message/command", name=self.name, text=self.text)


def system_prompt(workspace: Path) -> tuple[str, ...]:
    """Return the parts of the system prompt. Reads the rules from disk: call it off the event loop."""
    parts = [
        render("system/role"),
        render("system/rules"),
        render(
            "system/environment",
            workspace=str(workspace),
            system=f"{platform.system()} {platform.release()}",
            shell=os.environ.get("SHELL", "/bin/sh"),
        ),
    ]
    rules = project_rules(workspace)
    if rules:
        parts.append(render("system/project_rules", rules=rules))
    return ("\n\n".join(part.strip() for part in parts),)


def project_rules(workspace: Path) -> str:
    """Return the text of every rule file under a heading with its path, at most `RULES_LIMIT` characters in total."""
    folder = workspace / _RULES_FOLDER
    paths = [workspace / name for name in _SINGLE_FILES]
    if folder.is_dir():
        paths += sorted(path for path in folder.rglob("*") if path.is_file())
    sections = []
    for path in paths:
        text = _read(path)
        if text.strip():
            name = path.relative_to(workspace).as_posix()
            sections.append(render("system/project_rule", path=name, text=text.strip()))
    return "\n\n".join(section.strip() for section in sections)[:RULES_LIMIT]


def custom_commands(workspace: Path) -> dict[str, CustomCommand]:
    """Return the slash commands by name: the project's, sorted, then the user's; the project's take precedence."""
    found: dict[str, CustomCommand] = {}
    for path in (*_command_files(workspace), *_command_files(_home())):
        text = _read(path)
        if text.strip() and path.stem not in found:
            description, body = _front_matter(text)
            found[path.stem] = CustomCommand(path.stem, description, body.strip())
    return found


def _home() -> Path | None:
    try:
        return Path.home()
    except RuntimeError:  # a user without one, as in some containers
        return None


def _command_files(folder: Path | None) -> list[Path]:
    if folder is None:
        return []
    try:
        return sorted(path for path in (folder / _COMMANDS_FOLDER).iterdir() if path.suffix == ".md")
    except (FileNotFoundError, NotADirectoryError):
        return []
    except OSError as error:
        log.warning("cannot list %s: %s", folder / _COMMANDS_FOLDER, error)
        return []


def _front_matter(text: str) -> tuple[str, str]:
    if not text.startswith("---\n"):
        first = text.strip().splitlines()[0].lstrip("# ")
        return first[:80], text
    head, _, body = text[4:].partition("\n---\n")
    fields = dict(line.split(":", 1) for line in head.splitlines() if ":" in line)
    return fields.get("description", "").strip().strip("\"'"), body


def _read(path: Path) -> str:
    try:
        return well_formed(path.read_text(encoding="utf-8", errors="replace"))
    except FileNotFoundError:
        return ""
    except OSError as error:
        log.warning("cannot read %s: %s", path, error)
        return ""
