"""Map file name extensions to grammars."""

from pathlib import PurePosixPath

_ENDINGS = {
    "python": "py pyi pyw",
    "typescript": "ts mts cts",
    "tsx": "tsx",
    "javascript": "js jsx mjs cjs",
    "go": "go",
    "rust": "rs",
    "java": "java",
    "c": "c",
    # Headers may be C or C++; the C++ grammar reads both.
    "cpp": "cpp cc cxx h hh hpp hxx",
    "csharp": "cs",
    "ruby": "rb rake gemspec",
    "php": "php",
    "kotlin": "kt kts",
    "swift": "swift",
    "scala": "scala sc",
    "lua": "lua",
    "bash": "sh bash",
    "html": "html htm",
    "css": "css",
    "markdown": "md markdown",
    "toml": "toml",
    "elixir": "ex exs",
    "zig": "zig",
    "solidity": "sol",
    "ocaml": "ml",
}
_LANGUAGES = {ending: language for language, endings in _ENDINGS.items() for ending in endings.split()}


def language_of(path: str) -> str:
    """Return the name of the grammar for a file, empty if there is none. The extension's case is ignored."""
    return _LANGUAGES.get(PurePosixPath(path.replace("\\", "/")).suffix.lower().removeprefix("."), "")
