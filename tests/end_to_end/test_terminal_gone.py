"""The program ends when its terminal does, also where it gets no signal."""

import os
import pty
import subprocess
import sys
from pathlib import Path


def test_a_closed_terminal_ends_the_program(tmp_path: Path, home: str) -> None:
    leader, follower = pty.openpty()
    # In a session of its own, without a controlling terminal: the kernel sends no hang-up.
    program = subprocess.Popen(
        [sys.executable, "-m", "roo_tui", "--demo"],
        stdin=follower,
        stdout=follower,
        stderr=follower,
        cwd=tmp_path,
        env={**os.environ, "ROO_TUI_HOME": home, "TERM": "xterm-256color"},
        start_new_session=True,
    )
    os.close(follower)
    try:
        shown = b""
        while b"roo-tui" not in shown:
            shown += os.read(leader, 65_536)
        os.close(leader)
        assert program.wait(timeout=40) is not None
    finally:
        program.kill()
        program.wait()
