from pathlib import Path

import pytest

from tests.support.tool_bench import Bench


@pytest.fixture
async def bench(tmp_path: Path) -> Bench:
    root = tmp_path / "work"
    root.mkdir()
    return Bench(root)
