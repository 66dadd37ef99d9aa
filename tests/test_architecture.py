"""Rules about the whole: layers, what importing costs, every prompt used and filled, nothing private in a file."""

import ast
import importlib
import re
import subprocess
import sys
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

from roo_tui import prompt_files

ROOT = Path(__file__).parent.parent
SOURCES = sorted((ROOT / "roo_tui").rglob("*.py"))
HEAVY = {"textual", "rich", "anthropic", "openai", "tiktoken", "tree_sitter", "tree_sitter_language_pack", "PIL"}


def modules_after(statement: str) -> set[str]:
    code = f"{statement}\nimport sys\nprint('\\n'.join(sys.modules))"
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    return set(run.stdout.split())


def test_layers_point_one_way() -> None:
    command = [sys.executable, "-c", "from importlinter.cli import lint_imports_command as run; run()", "--no-cache"]
    run = subprocess.run(command, capture_output=True, text=True, cwd=ROOT)
    assert run.returncode == 0, run.stdout + run.stderr


CONTEXT = ("roo_tui.context", *(f"roo_tui.context.{name}" for name in ("history", "window", "condense", "strategies")))


def test_other_packages_import_only_what_context_exports() -> None:
    public = {name: set(importlib.import_module(name).__all__) for name in CONTEXT}
    for source in SOURCES:
        if "context" in source.relative_to(ROOT / "roo_tui").parts[:1]:
            continue
        for node in ast.walk(ast.parse(source.read_text(encoding="utf-8"))):
            module = node.module or "" if isinstance(node, ast.ImportFrom) else ""
            if module.partition(".")[2].partition(".")[0] == "context":
                assert isinstance(node, ast.ImportFrom)
                assert module in public, f"{source} reaches into {module}"
                assert {alias.name for alias in node.names} <= public[module], f"{source}: {module}"


@pytest.mark.parametrize("package", ["engine", "headless.run", "settings", "domain", "commands"])
def test_a_package_without_a_screen_loads_no_screen_and_no_provider(package: str) -> None:
    assert not modules_after(f"import roo_tui.{package}") & HEAVY


def test_domain_is_standard_library_only() -> None:
    modules = {name.partition(".")[0] for name in modules_after("import roo_tui.domain.events")}
    assert not modules & {"pydantic", "platformdirs", "tomlkit", "pathspec", "rapidfuzz", "filelock"}


def test_the_version_is_told_without_loading_the_program() -> None:
    loaded = modules_after("from roo_tui.cli import main\nmain(['--version'])")
    own = {name for name in loaded if name.partition(".")[0] == "roo_tui"}
    assert own == {"roo_tui", "roo_tui.cli", "roo_tui.arguments"}
    assert not loaded & {"asyncio", "platformdirs", "logging", "dataclasses"}


@cache
def rendered() -> dict[str, list[tuple[frozenset[str], bool]]]:
    """Return the prompt names that code renders: given values, and whether there may be more (`**values`)."""
    found: dict[str, list[tuple[frozenset[str], bool]]] = {}
    for source in SOURCES:
        for call in calls_of_render(ast.parse(source.read_text(encoding="utf-8"))):
            values = frozenset(keyword.arg for keyword in call.keywords if keyword.arg)
            open_ended = any(keyword.arg is None for keyword in call.keywords)
            for name in names_in(call.args[0]):
                found.setdefault(name, []).append((values, open_ended))
    return found


def calls_of_render(tree: ast.AST) -> Iterator[ast.Call]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and node.args:
            function = node.func
            name = function.attr if isinstance(function, ast.Attribute) else getattr(function, "id", "")
            if name == "render":
                yield node


def names_in(argument: ast.expr) -> list[str]:
    """Return the prompts an argument can name; in `f"tools/{name}"` each `{…}` stands for any part of a name."""
    if isinstance(argument, ast.IfExp):
        return names_in(argument.body) + names_in(argument.orelse)
    if isinstance(argument, ast.Constant) and isinstance(argument.value, str):
        return [argument.value]
    if isinstance(argument, ast.JoinedStr):
        parts = (re.escape(str(part.value)) if isinstance(part, ast.Constant) else "[^/]+" for part in argument.values)
        pattern = "".join(parts)
        return [name for name in prompt_files.names() if "/" in pattern and re.fullmatch(pattern, name)]
    return []


@cache
def chosen_elsewhere() -> frozenset[str]:
    """Return the prompts whose names stand anywhere in the program: one may be chosen first and rendered later."""
    found: set[str] = set()
    for source in SOURCES:
        for node in ast.walk(ast.parse(source.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Constant | ast.JoinedStr):
                found.update(names_in(node))
    return frozenset(found)


def test_there_are_prompts() -> None:
    assert len(prompt_files.names()) > 10


@pytest.mark.parametrize("name", prompt_files.names())
def test_every_prompt_is_used_and_its_placeholders_have_values(name: str) -> None:
    uses = rendered().get(name, [])
    assert uses or name in chosen_elsewhere(), f"nothing renders {name}"
    for values, open_ended in uses:
        missing, unused = prompt_files.placeholders(name) - values, values - prompt_files.placeholders(name)
        assert not unused, f"{name} has no placeholder for {sorted(unused)}"
        assert open_ended or not missing, f"nothing fills {sorted(missing)} of {name}"


def test_every_rendered_prompt_exists() -> None:
    assert set(rendered()) <= set(prompt_files.names())


def tracked_texts() -> Iterator[tuple[str, str]]:
    skipped = {".git", ".venv", "__pycache__", "node_modules", "dist", "build", "snapshot_report.html"}
    for path in sorted(ROOT.rglob("*")):
        parts = path.relative_to(ROOT).parts
        if not path.is_file() or skipped & set(parts) or any(part.endswith("_cache") for part in parts):
            continue
        if path.suffix in {".xz", ".png", ".gz", ".svg", ".sqlite3", ".pyc"} or parts[0].startswith(".hypothesis"):
            continue
        yield "/".join(parts), path.read_text(encoding="utf-8", errors="replace")


def test_no_file_names_a_machines_folders_or_a_package_registry() -> None:
    folders = re.compile(r"(?<![\w.~])/(?:root|work|home/\w+|Users/\w+|opt/\w+)/")
    registries = re.compile(r"pypi[.]org|pythonhosted[.]org|registry[.]npmjs|piwheels[.]org")
    for name, text in tracked_texts():
        assert not registries.search(text), name
        assert not (found := folders.search(text)), f"{name}: {found[0] if found else ''}"


def test_constraints_are_exact_versions_without_addresses() -> None:
    lines = (ROOT / "constraints.txt").read_text(encoding="utf-8").splitlines()
    assert all(re.fullmatch(r"[\w.-]+==[\w.]+( ; .+)?", line) for line in lines)
    assert "://" not in "".join(lines)


def test_sources_hold_no_leftovers() -> None:
    for source in SOURCES:
        assert not re.search(r"#\s*(TODO|FIXME|XXX)\b", source.read_text(encoding="utf-8")), source.name
