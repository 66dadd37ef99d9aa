"""`python -m bench NAME [OPTIONS]`: run one bench and print what it measured. Without a name, list the benches."""

import ast
import importlib
import sys
from pathlib import Path


def benches() -> dict[str, str]:
    """Return the name and the question of every module in this folder that has a `main`, without importing any."""
    found = {}
    for file in sorted(Path(__file__).parent.glob("[a-z]*.py")):
        module = ast.parse(file.read_text(encoding="utf-8"))
        if any(isinstance(node, ast.FunctionDef) and node.name == "main" for node in module.body):
            found[file.stem] = (ast.get_docstring(module) or "").partition("\n")[0]
    return found


def run(argv: list[str]) -> int:
    """Run the bench named first and return its exit code: 1 where a target is missed or a wait timed out."""
    known = benches()
    if not argv or argv[0] in ("-h", "--help"):
        width = max(map(len, known))
        print("usage: python -m bench NAME [--json] [--help]\n")
        print("\n".join(f"  {name:<{width}}  {question}" for name, question in known.items()))
        return 0
    if argv[0] not in known:
        print(f"There is no bench named {argv[0]!r}. Choose one of: {', '.join(known)}.", file=sys.stderr)
        return 2
    return int(importlib.import_module(f"bench.{argv[0]}").main(argv[1:]))


if __name__ == "__main__":
    sys.exit(run(sys.argv[1:]))
