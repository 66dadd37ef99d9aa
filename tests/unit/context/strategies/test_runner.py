"""A run of a strategy: choosing, thresholds, prompts, judging, telling, falling back."""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, field, replace

import pytest

from roo_tui.context.condense.preview import preview_of_bodies
from roo_tui.context.condense.steps import PreparedCondense, prepare
from roo_tui.context.history.effective import effective_history
from roo_tui.context.options import ContextOptions
from roo_tui.context.reduction_input import ReductionInput
from roo_tui.context.strategies.hooks import CondenseHooks
from roo_tui.context.strategies.plugins import built_in
from roo_tui.context.strategies.protocol import (
    Strategy,
    StrategyEvent,
    StrategyOptions,
    StrategyPlan,
    Verdict,
)
from roo_tui.context.strategies.runner import Extensions, Registry, Runner
from roo_tui.context.window.thresholds import Thresholds
from roo_tui.context.window.tokens import TokenCounter
from roo_tui.domain.blocks import Text
from roo_tui.domain.entries import Body
from roo_tui.domain.errors import CommandRefused, CondenseError, CondenseRefused, ModelError, SettingsError
from roo_tui.domain.markers import Condense, Mask, MaskItem
from tests.support.conversations import mixed
from tests.support.histories import History
from tests.support.reductions import inputs, services_for, summariser
from tests.support.scripted_model import hang

BUILT_IN = ("native", "smart", "lossless", "truncation")
PATH = mixed(7)


@dataclass
class Notes:
    seen: list[StrategyEvent] = field(default_factory=list)

    def on_event(self, event: StrategyEvent) -> None:
        self.seen.append(event)

    def told(self) -> list[str]:
        return [f"{one.kind} {one.strategy}" for one in self.seen]


@dataclass
class Fixed:
    """A strategy with a result written down beforehand."""

    bodies: tuple[Body, ...] = ()
    id: str = "fixed"
    name: str = "Fixed"
    description: str = "Always the same."
    enabled: bool = True
    priority: int = 5

    def validate(self, inputs: ReductionInput, options: StrategyOptions) -> tuple[str, ...]:
        return ()

    def prepare(self, inputs: ReductionInput, options: StrategyOptions) -> StrategyPlan:
        return StrategyPlan(preview_of_bodies(inputs, self.id, self.bodies, options.counter), self.bodies)


def test_the_registry_lists_finds_and_adds():
    registry = built_in()
    names = [strategy.id for strategy in registry.all()]
    assert [name for name in names if name in BUILT_IN] == [*BUILT_IN]
    registry.get("smart").enabled = False
    names.remove("smart")
    assert [strategy.id for strategy in registry.enabled()] == names
    with pytest.raises(CommandRefused, match=rf"“smart” is switched off\. Choose one of: {', '.join(names)}"):
        registry.get("smart")
    registry.register(Fixed())
    assert registry.all()[0].id == "fixed"
    with pytest.raises(SettingsError, match="fixed"):
        registry.register(Fixed())
    registry.register(Fixed(name="Other"), replace=True)
    assert registry.get("fixed").name == "Other"
    with pytest.raises(CommandRefused, match="There is no strategy “fast”"):
        registry.get("fast")


async def test_a_run_by_hand_gives_what_the_strategy_gives_and_is_told(counter: TokenCounter):
    notes = Notes()
    runner = Runner(built_in(), Extensions(listeners=(notes,)))
    now = inputs(PATH, counter)
    (condense,) = await runner.run(now, services_for(summariser(), counter), StrategyOptions(counter), "native")
    assert isinstance(condense, Condense)
    assert notes.told() == ["start native", "success native"]
    assert notes.seen[-1].tokens_after == condense.figures.tokens_after
    assert notes.seen[-1].bodies == (condense,)


async def test_a_failure_is_told_and_raised_with_what_it_cost(counter: TokenCounter):
    notes = Notes()
    runner = Runner(built_in(), Extensions(listeners=(notes,)))
    with pytest.raises(CondenseError):
        model = summariser(ModelError("The service is down.", status=500))
        await runner.run(inputs(PATH, counter), services_for(model, counter), StrategyOptions(counter), "native")
    assert notes.told() == ["start native", "failure native"]
    assert notes.seen[-1].message == "The service is down."


async def test_a_cancel_is_told_and_goes_on(counter: TokenCounter):
    notes = Notes()
    model = summariser(hanging := hang())
    runner = Runner(built_in(), Extensions(listeners=(notes,)))
    task = asyncio.create_task(
        runner.run(inputs(PATH, counter), services_for(model, counter), StrategyOptions(counter), "native")
    )
    await hanging.reached.wait()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert notes.told() == ["start native", "failure native"]


async def test_a_listener_that_fails_changes_nothing(counter: TokenCounter):
    class Broken:
        def on_event(self, event: StrategyEvent) -> None:
            raise RuntimeError("my own fault")

    runner = Runner(built_in(), Extensions(listeners=(Broken(),)))
    options = StrategyOptions(counter)
    assert await runner.run(inputs(PATH, counter), services_for(summariser(), counter), options, "lossless")


async def test_a_result_that_frees_nothing_is_refused(counter: TokenCounter):
    history = History()
    history.user("a few words")
    history.answer("yes")
    growing = Mask((MaskItem(1, 0, "text", 0, 1, "a far longer placeholder than what it stands for"),))
    for bodies in ((), (growing,)):
        runner = Runner(Registry([Fixed(bodies)]))
        with pytest.raises(CondenseRefused, match="Nothing would be freed"):
            await runner.run(
                inputs(history.path, counter),
                services_for(summariser(), counter),
                StrategyOptions(counter),
                "fixed",
            )


async def test_a_gain_below_the_least_is_refused_general_then_strategy(counter: TokenCounter):
    now = inputs(PATH, counter)
    huge = Thresholds(min_gain_tokens=10**6)
    runner = Runner(built_in())
    services = services_for(summariser(), counter)
    with pytest.raises(CondenseRefused, match="smallest gain of 1,000,000"):
        await runner.run(now, services, StrategyOptions(counter, thresholds=huge), "lossless")
    own = {"lossless": Thresholds(min_gain_tokens=1)}
    assert await runner.run(now, services, StrategyOptions(counter, thresholds=huge, per_strategy=own), "lossless")


def test_each_threshold_falls_back_alone(counter: TokenCounter):
    options = StrategyOptions(
        counter,
        thresholds=Thresholds(80_000, 40_000, 5_000),
        per_strategy={"smart": Thresholds(stop_tokens=30_000)},
    )
    assert options.thresholds_of("smart") == Thresholds(80_000, 30_000, 5_000)
    assert options.thresholds_of("native") == Thresholds(80_000, 40_000, 5_000)


def test_a_strategys_own_trigger_is_off_unless_it_is_set(counter: TokenCounter):
    now = inputs(PATH, counter)
    runner = Runner(built_in())
    assert not runner.is_due(now, StrategyOptions(counter), "smart")
    for tokens, due in ((now.context_tokens, True), (now.context_tokens + 1, False)):
        options = StrategyOptions(counter, per_strategy={"smart": Thresholds(trigger_tokens=tokens)})
        assert runner.is_due(now, options, "smart") == due


async def test_a_resolver_has_the_last_word_on_thresholds(counter: TokenCounter):
    class Strict:
        def resolve(self, inputs: ReductionInput, strategy_id: str, thresholds: Thresholds) -> Thresholds:
            return Thresholds(min_gain_tokens=10**6).over(thresholds)

    runner = Runner(built_in(), Extensions(threshold_resolvers=(Strict(),)))
    with pytest.raises(CondenseRefused, match="1,000,000"):
        options = StrategyOptions(counter)
        await runner.run(inputs(PATH, counter), services_for(summariser(), counter), options, "lossless")


async def test_a_generator_writes_the_prompt(counter: TokenCounter):
    class Short:
        def prompt(self, inputs: ReductionInput, strategy_id: str, prompt: str) -> str:
            return f"In one sentence, for {strategy_id}, please."

    model = summariser("Short.")
    runner = Runner(built_in(), Extensions(prompt_generators=(Short(),)))
    await runner.run(inputs(PATH, counter), services_for(model, counter), StrategyOptions(counter), "native")
    assert "In one sentence, for native, please." in str(model.requests[0].messages[-1])


async def test_a_selector_chooses_the_strategy(counter: TokenCounter):
    class Free:
        def select(self, inputs: ReductionInput, strategies: Sequence[Strategy], chosen: str) -> str:
            return next(one.id for one in strategies if one.id != chosen and one.id != "smart")

    runner = Runner(built_in(), Extensions(strategy_selectors=(Free(),)))
    assert runner.choose(inputs(PATH, counter), "native").id == "lossless"


async def test_a_validator_refuses_or_remarks(counter: TokenCounter):
    class Judge:
        def __init__(self, verdict: Verdict) -> None:
            self.verdict = verdict

        def check(self, inputs: ReductionInput, bodies: Sequence[Body]) -> Verdict:
            return self.verdict

    now, options = inputs(PATH, counter), StrategyOptions(counter)
    bad = Runner(built_in(), Extensions(validators=(Judge(Verdict()), Judge(Verdict(False, ("too terse",), 0.1)))))
    with pytest.raises(CondenseRefused, match="too terse"):
        await bad.run(now, services_for(summariser(), counter), options, "lossless")
    with pytest.raises(CondenseError, match="too terse") as caught:
        await bad.run(now, services_for(summariser(), counter), options, "native")
    assert caught.value.body.cost_usd
    fine = Runner(built_in(), Extensions(validators=(Judge(Verdict(True, ("no test output",), 0.8)),)))
    (mask,) = await fine.run(now, services_for(summariser(), counter), options, "lossless")
    assert isinstance(mask, Mask)
    assert mask.figures.remarks == ("no test output",)


async def test_a_plan_tells_what_would_come_and_asks_nothing(counter: TokenCounter):
    runner = Runner(built_in())
    now = inputs(PATH, counter)
    for way in BUILT_IN:
        shown = (await runner.prepare(now, StrategyOptions(counter), way)).plan.preview
        assert shown.tokens_after < shown.tokens_before == now.context_tokens
        assert (shown.model_calls > 0) == (way == "native")
        assert shown.hidden > 0
    with pytest.raises(CommandRefused, match="“fast”"):
        await runner.prepare(now, StrategyOptions(counter), "fast")


class Counting(Fixed):
    prepared = 0

    def prepare(self, inputs: ReductionInput, options: StrategyOptions) -> StrategyPlan:
        self.prepared += 1
        return super().prepare(inputs, options)


async def test_the_plan_that_was_shown_is_the_plan_that_runs(counter: TokenCounter):
    now, options = inputs(PATH, counter), StrategyOptions(counter)
    lossless = (await Runner(built_in()).prepare(now, options, "lossless")).plan
    strategy = Counting(lossless.bodies)
    runner = Runner(Registry([strategy]))
    prepared = await runner.prepare(now, options, "fixed")
    services, warm = services_for(summariser(), counter), replace(now, idle_s=1.0)
    await runner.run(warm, services, options, "fixed", prepared=prepared)
    assert strategy.prepared == 2, "what was cold is warm now: prepared anew"
    assert await runner.run(now, services, options, "fixed", prepared=prepared) == prepared.plan.bodies
    assert strategy.prepared == 2
    grown = replace(now, context_tokens=now.context_tokens + 9)
    await runner.run(grown, services, options, "fixed", prepared=prepared)
    assert strategy.prepared == 3


async def test_a_condense_prepares_once(counter: TokenCounter, monkeypatch: pytest.MonkeyPatch):
    calls = []

    def counted(given: ReductionInput, counter: TokenCounter, options: ContextOptions) -> PreparedCondense:
        calls.append(given)
        return prepare(given, counter, options)

    monkeypatch.setattr("roo_tui.context.strategies.native.prepare", counted)
    monkeypatch.setattr("roo_tui.context.condense.steps.prepare", counted)
    now, options = inputs(PATH, counter), StrategyOptions(counter)
    await Runner(built_in()).run(now, services_for(summariser(), counter), options, "native")
    assert len(calls) == 1


def test_listeners_are_told_of_a_fallback(counter: TokenCounter):
    notes = Notes()
    runner = Runner(built_in(), Extensions(listeners=(notes,)))
    runner.fell_back(inputs(PATH, counter), "native", "outline", "The model did not answer.")
    (told,) = notes.seen
    assert (told.kind, told.strategy, told.next_rung) == ("fallback", "native", "outline")
    assert told.message == "The model did not answer."


async def test_hooks_run_before_and_after(counter: TokenCounter, tmp_path):
    hooks = CondenseHooks(
        before=('cat > before.json; echo \'{"instructions": "Keep the port number."}\'',),
        after=("cat > after.json",),
        folder=tmp_path,
        environment={"PATH": "/usr/bin:/bin"},
    )
    model = summariser()
    runner = Runner(built_in(), hooks=hooks)
    now = inputs(PATH, counter, instructions="Be brief.")
    await runner.run(now, services_for(model, counter), StrategyOptions(counter), "native")
    asked = str(model.requests[0].messages[-1])
    assert "Be brief." in asked
    assert "Keep the port number." in asked
    assert '"event": "before_condense"' in (tmp_path / "before.json").read_text()
    assert '"outcome": "success"' in (tmp_path / "after.json").read_text()


async def test_a_hook_that_blocks_leaves_everything_as_it_was(counter: TokenCounter, tmp_path):
    notes, model = Notes(), summariser()
    hooks = CondenseHooks(
        before=("echo 'not during a release' >&2; exit 2", "touch second"),
        folder=tmp_path,
        environment={"PATH": "/usr/bin:/bin"},
    )
    runner = Runner(built_in(), Extensions(listeners=(notes,)), hooks)
    with pytest.raises(CondenseRefused, match="A hook stopped the condense: not during a release"):
        await runner.run(inputs(PATH, counter), services_for(model, counter), StrategyOptions(counter), "native")
    assert (model.requests, notes.seen) == ([], [])
    assert not (tmp_path / "second").exists()


async def test_a_history_of_one_message_is_refused_by_every_strategy(counter: TokenCounter):
    history = History()
    history.user("only this")
    assert effective_history(history.path)[0].blocks == (Text("only this"),)
    for way in BUILT_IN:
        with pytest.raises(CondenseRefused):
            await Runner(built_in()).run(
                inputs(history.path, counter), services_for(summariser(), counter), StrategyOptions(counter), way
            )
