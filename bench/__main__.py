"""`python -m bench NAME [ARGUMENTS]`: measure one question and print what came out."""

import ast
import importlib
import sys
from pathlib import Path


def questions() -> dict[str, str]:
    """Return the name and the question of every module of this folder that has a `main`; none is imported."""
    found = {}
    for file in sorted(Path(__file__).parent.glob("[a-z]*.py")):
        module = ast.parse(file.read_text(encoding="utf-8"))
        if any(isinstance(node, ast.FunctionDef) and node.name == "main" for node in module.body):
            found[file.stem] = (ast.get_docstring(module) or "").partition("\n")[0]
    return found


def run(argv: list[str]) -> int:
    """Hand the arguments to the question named first; returns 1 where a target is missed."""
    known = questions()
    if not argv or argv[0] not in known:
        width = max(map(len, known))
        print("usage: python -m bench NAME [--json] [--help]\n", file=sys.stderr)
        print("\n".join(f"  {name:<{width}}  {question}" for name, question in known.items()), file=sys.stderr)
        return 2
    return int(importlib.import_module(f"bench.{argv[0]}").main(argv[1:]))


if __name__ == "__main__":
    sys.exit(run(sys.argv[1:]))
