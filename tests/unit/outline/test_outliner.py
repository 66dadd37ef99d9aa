"""The process that outlines files: started late, replaced when it fails, gone after close."""

import asyncio
import os
import subprocess
import sys

from roo_tui.outline import Outliner, outline

TEXT = "def f(x):\n    a = x\n    b = a\n    return b\n"


async def test_outline_from_the_process_equals_the_one_made_here() -> None:
    outliner = Outliner()
    try:
        shown = [await outliner.outline(f"{name}.py", TEXT) for name in "ab"]
    finally:
        await outliner.close()
    assert shown == [outline("a.py", TEXT), outline("b.py", TEXT)]


async def test_text_with_lone_surrogates_is_outlined() -> None:
    outliner = Outliner()
    try:
        assert await outliner.outline("a.py", TEXT + "# \ud800\n") == "# a.py\n1--4 | def f(x):\n"
    finally:
        await outliner.close()


async def test_no_process_is_started_for_files_without_a_grammar() -> None:
    outliner = Outliner(command=("/does/not/exist",))
    assert await outliner.outline("a.txt", TEXT) == ""
    await outliner.close()


async def test_process_that_cannot_start_leaves_the_file_out() -> None:
    outliner = Outliner(command=("/does/not/exist",))
    assert await outliner.outline("a.py", TEXT) == ""
    await outliner.close()


async def test_file_that_ends_the_process_is_left_out_and_the_next_is_not() -> None:
    program = (
        "import os, sys\n"
        "from roo_tui.outline import worker, signatures\n"
        "real = worker.outline\n"
        "worker.outline = lambda path, text: os._exit(9) if 'crash' in text else real(path, text)\n"
        "worker.main()\n"
    )
    outliner = Outliner(command=(sys.executable, "-c", program))
    try:
        assert await outliner.outline("a.py", "crash\n" + TEXT) == ""
        assert await outliner.outline("a.py", TEXT) == "# a.py\n1--4 | def f(x):\n"
    finally:
        await outliner.close()


async def test_file_that_takes_too_long_is_left_out() -> None:
    outliner = Outliner(timeout_s=0.05, command=(sys.executable, "-c", "import sys; sys.stdin.read()"))
    try:
        assert await outliner.outline("a.py", TEXT) == ""
    finally:
        await outliner.close()


async def test_cancelled_outline_does_not_spoil_the_next() -> None:
    outliner = Outliner()
    try:
        asked = asyncio.create_task(outliner.outline("first.py", TEXT))
        await asyncio.sleep(0)
        asked.cancel()
        await asyncio.gather(asked, return_exceptions=True)
        assert await outliner.outline("second.py", TEXT) == "# second.py\n1--4 | def f(x):\n"
    finally:
        await outliner.close()


def test_importing_the_room_loads_no_grammar() -> None:
    code = "import roo_tui.outline, sys; print([m for m in sys.modules if m.startswith('tree_sitter')])"
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, env={**os.environ})
    assert run.stdout.strip() == "[]"
