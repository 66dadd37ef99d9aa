"""Plug-ins: an installed package adds a strategy and takes part in runs; a broken one is left out and told about."""

import subprocess
import sys
from importlib.metadata import EntryPoint, distributions
from pathlib import Path
from typing import Any

import pytest

from roo_tui.context.history.effective import effective_history
from roo_tui.context.history.log import appended
from roo_tui.context.strategies.plugins import GROUPS, built_in, load_plugins
from roo_tui.context.strategies.protocol import StrategyOptions
from roo_tui.context.strategies.runner import Extensions, Runner
from roo_tui.context.window.thresholds import Thresholds
from roo_tui.context.window.tokens import TokenCounter
from roo_tui.domain.errors import CondenseError, CondenseRefused
from roo_tui.domain.markers import Truncation
from tests.support.conversations import mixed
from tests.support.reductions import inputs, services_for, summariser

EXAMPLE = Path(__file__).parents[3] / "support" / "example_plugin"


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder into which the example was installed, as `pip install` does it."""
    folder = tmp_path_factory.mktemp("site")
    source = tmp_path_factory.mktemp("source")
    for file in EXAMPLE.rglob("*"):
        if file.is_file() and "__pycache__" not in file.parts:
            copy = source / file.relative_to(EXAMPLE)
            copy.parent.mkdir(parents=True, exist_ok=True)
            copy.write_bytes(file.read_bytes())
    command = [sys.executable, "-m", "pip", "install", "-q", "--no-deps", "--no-build-isolation", "--no-index"]
    run = subprocess.run([*command, "--target", str(folder), str(source)], capture_output=True, text=True)
    assert run.returncode == 0, run.stderr
    return folder


def points_of(folder: Path) -> list[EntryPoint]:
    return [point for found in distributions(path=[str(folder)]) for point in found.entry_points]


@pytest.fixture
def example(installed: Path, monkeypatch: pytest.MonkeyPatch) -> list[EntryPoint]:
    monkeypatch.syspath_prepend(str(installed))
    return points_of(installed)


def test_installed_plugins_are_found_by_themselves(installed: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.syspath_prepend(str(installed))
    registry = built_in()
    extensions, problems = load_plugins(registry)
    assert problems == ()
    assert registry.get("newest-only").name == "Newest only"
    assert len(extensions.listeners) == 1


async def test_the_example_takes_part_at_every_point(example: list[EntryPoint], counter: TokenCounter):
    assert {point.group for point in example} == set(GROUPS)
    registry = built_in()
    extensions, problems = load_plugins(registry, found=example)
    assert problems == ()
    runner, options = Runner(registry, extensions), StrategyOptions(counter)
    small = inputs(mixed(3)[:12], counter)
    assert runner.choose(small, "native").id == "native"
    now = inputs(mixed(3), counter)

    (truncation,) = await runner.run(now, services_for(summariser(), counter), options, "newest-only")
    assert isinstance(truncation, Truncation)
    assert len(effective_history(appended(now.path, truncation))) <= 7
    assert extensions.listeners[0].seen[-2:] == ["start newest-only", "success newest-only"]  # type: ignore[attr-defined]

    model = summariser("Bref.")
    with pytest.raises(CondenseError, match="only 1 messages would be left"):
        await runner.run(now, services_for(model, counter), options, "native")
    assert "Write in French." in str(model.requests[0].messages[-1])
    assert extensions.threshold_resolvers[0].resolve(now, "x", Thresholds()).stop_tokens == now.limits.window // 2
    assert list(extensions.truncation_selectors[0].order(now, [(), (), ()])) == [2, 1, 0]


async def test_the_example_chooses_its_own_strategy_for_a_small_context(
    example: list[EntryPoint], counter: TokenCounter
):
    registry = built_in()
    extensions, _ = load_plugins(registry, found=example)
    now = inputs(mixed(3)[:4], counter)
    assert now.context_tokens < 2_000
    with pytest.raises(CondenseRefused, match="not enough messages yet"):
        await Runner(registry, extensions).run(
            now, services_for(summariser(), counter), StrategyOptions(counter), "native"
        )


class Lacking:
    """Has an id and nothing else."""

    id = "lacking"


def broken() -> Any:
    raise RuntimeError("out of order")


def test_a_broken_plugin_is_left_out_and_named():
    here = __name__
    found = [
        EntryPoint("gone", "no_such_module:Thing", "roo_tui.listeners"),
        EntryPoint("bad", f"{here}:broken", "roo_tui.validators"),
        EntryPoint("lacking", f"{here}:Lacking", "roo_tui.strategies"),
        EntryPoint("twice", "roo_tui.context.strategies.native:Native", "roo_tui.strategies"),
        EntryPoint("foreign", f"{here}:broken", "another.group"),
    ]
    registry = built_in()
    extensions, problems = load_plugins(registry, found=found)
    assert extensions == Extensions()
    assert [strategy.id for strategy in registry.all()] == [strategy.id for strategy in built_in().all()]
    text = "\n".join(problems)
    assert "“gone” (roo_tui.listeners)" in text
    assert "out of order" in text
    assert "it lacks name, description" in text
    assert "“twice”" in text
    assert "foreign" not in text
