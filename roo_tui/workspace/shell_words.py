"""Find the ignored files that a shell command names, as far as its words show."""

import glob
import re
import shlex
from collections.abc import Iterator
from itertools import islice
from pathlib import Path

from roo_tui.domain.errors import PathRefused
from roo_tui.workspace.files import Workspace

_WILD = re.compile(r"[*?\[]")
_EXPANDED = 100
_WORDS = 1_000


def ignored_paths(workspace: Workspace, command: str, cwd: Path) -> tuple[str, ...]:
    """Return the paths hidden by `.rooignore` that a command names, in order, each once.

    Words, redirections, values of options (`--file=x`) and simple wildcards are checked. Paths that a script or a
    variable names are not found.
    """
    found: dict[str, None] = {}
    for word in islice(_words(command), _WORDS):
        for path in _paths(word, cwd):
            try:
                location = workspace.resolve(cwd / path)
            except PathRefused:
                continue
            if location.path != workspace.root and workspace.is_ignored(location):
                found[location.shown] = None
    return tuple(found)


def _words(command: str) -> Iterator[str]:
    lexer = shlex.shlex(command, posix=True, punctuation_chars=True)
    lexer.whitespace_split = True
    lexer.commenters = ""
    try:
        words = list(lexer)
    except ValueError:
        words = re.split(r"[\s'\"|&;<>()]+", command)
    for word in words:
        yield word
        if "=" in word:
            yield word.partition("=")[2]
        if word.startswith("@"):
            yield word[1:]


def _paths(word: str, cwd: Path) -> Iterator[str]:
    if not word or "\0" in word:
        return
    yield word
    if _WILD.search(word) and "**" not in word:
        yield from islice(glob.iglob(word, root_dir=cwd, include_hidden=True), _EXPANDED)  # noqa: PTH207
