"""What the passes of smart do: selection, operations, conditions, targets, summaries, metrics."""

import json
from dataclasses import replace

import pytest

from roo_tui.context.history.effective import effective_history
from roo_tui.context.history.log import appended
from roo_tui.context.reduction_input import Summariser as OtherModel
from roo_tui.context.strategies.protocol import ProfileModel, StrategyOptions
from roo_tui.context.strategies.smart.config import Pass, Progress, Selection, runs, selected
from roo_tui.context.strategies.smart.smart import SmartStrategy
from roo_tui.context.window.thresholds import Thresholds
from roo_tui.context.window.tokens import TokenCounter
from roo_tui.domain.blocks import Text, ToolResult, ToolUse, result_text
from roo_tui.domain.entries import AssistantMessage, Body, Entry, Pinned, UserMessage
from roo_tui.domain.errors import CondenseError, CondenseRefused, ModelError, SettingsError
from roo_tui.domain.markers import Condense, Mask, PassMetrics
from roo_tui.domain.requests import ModelInfo
from tests.support.histories import History
from tests.support.reductions import MODEL, inputs, services_for, summariser
from tests.support.scripted_model import Answer, Reply, ScriptedModel

LONG = "".join(f"line {number} of a long output\n" for number in range(80))


def steps(count: int = 10, content: str = LONG, given: str = "make") -> History:
    history = History()
    history.user("the task, in a few words")
    for number in range(count):
        history.add(AssistantMessage((ToolUse(f"c{number}", "execute_command", {"command": f"{given} {number}"}),)))
        history.add(UserMessage((ToolResult(f"c{number}", f"{number}: {content}"),), source="tools"))
    history.answer("done")
    return history


def individual(pass_id: str = "a", *, recent: int = 4, least: int | None = None, **operations: object) -> dict:
    names = {"text": "messageText", "inputs": "toolParameters", "results": "toolResults"}
    config: dict[str, object] = {"defaults": {names[name]: operation for name, operation in operations.items()}}
    if least is not None:
        config["messageTokenThresholds"] = {names[name]: least for name in operations}
    return {
        "id": pass_id,
        "mode": "individual",
        "selection": {"keepRecentCount": recent},
        "individualConfig": config,
    }


def batch(**config: object) -> dict:
    return {
        "id": "batch",
        "mode": "batch",
        "selection": {"keepRecentCount": 4},
        "batchConfig": {"operation": "summarize", "summarizationConfig": config},
    }


def options(counter: TokenCounter, *passes: dict, prelude: bool = False, **values: object) -> StrategyOptions:
    custom = json.dumps({"losslessPrelude": {"enabled": prelude}, "passes": passes})
    return StrategyOptions(counter, preset="custom", custom=custom, **values)  # type: ignore[arg-type]


SUPPRESS = {"operation": "suppress"}
SUMMARIZE = {"operation": "summarize", "params": {"maxTokens": 50}}


def cut(**params: object) -> dict:
    return {"operation": "truncate", "params": params}


async def run(
    path: tuple[Entry, ...], given: StrategyOptions, model: ScriptedModel | None = None, **values: object
) -> tuple[Body, ...]:
    now = inputs(path, given.counter, **values)
    plan = SmartStrategy().prepare(now, given)
    return await SmartStrategy().perform(plan, now, services_for(model or summariser(), given.counter), given)


def shown(path: tuple[Entry, ...], bodies: tuple[Body, ...]) -> dict[int, str]:
    """Return each visible result's text by its entry."""
    found = {}
    for message in effective_history(appended(path, *bodies)):
        for block in message.blocks:
            if isinstance(block, ToolResult):
                found[message.entry_id] = result_text(block)
    return found


def metrics(bodies: tuple[Body, ...]) -> tuple[PassMetrics, ...]:
    last = bodies[-1]
    assert isinstance(last, Mask | Condense)
    return last.figures.passes


def step(**fields: object) -> Pass:
    return Pass.model_validate({"id": "p", "mode": "batch", "batchConfig": {"operation": "keep"}} | fields)


def test_a_selection_keeps_the_last_messages():
    assert selected(Selection(keep_recent_count=3), 10) == 7
    assert selected(Selection(keep_recent_count=0), 10) == 10
    assert selected(Selection(keep_recent_count=30), 10) == 0
    assert selected(Selection(type="preserve_percent", keep_percentage=30), 11) == 8
    assert selected(Selection(type="preserve_percent", keep_percentage=0), 11) == 11


@pytest.mark.parametrize(
    ("fields", "progress", "expected"),
    [
        ({}, Progress(100, 100, 90), True),
        ({"execution": {"type": "conditional", "condition": {"tokenThreshold": 80}}}, Progress(100, 81, 90), True),
        ({"execution": {"type": "conditional", "condition": {"tokenThreshold": 80}}}, Progress(100, 80, 90), False),
        (
            {"execution": {"type": "conditional", "condition": {"reductionPercentage": 25}}},
            Progress(100, 80, 90),
            True,
        ),
        (
            {"execution": {"type": "conditional", "condition": {"reductionPercentage": 20}}},
            Progress(100, 80, 90),
            False,
        ),
        (
            {
                "execution": {
                    "type": "conditional",
                    "condition": {"reductionPercentage": 30, "reductionRelativeTo": "trigger"},
                }
            },
            Progress(100, 80, 50),
            False,
        ),
        ({"thresholds": {"triggerTokens": 81}}, Progress(100, 80, 90), False),
        ({"thresholds": {"triggerTokens": 80}}, Progress(100, 80, 90), True),
    ],
)
def test_a_pass_runs_under_its_condition(fields: dict, progress: Progress, expected: bool):
    assert runs(step(**fields), progress) == expected


async def test_suppressed_results_keep_their_ids_and_places(counter: TokenCounter):
    history = steps()
    bodies = await run(history.path, options(counter, individual(results=SUPPRESS)))
    after = effective_history(appended(history.path, *bodies))
    assert [message.entry_id for message in after] == [message.entry_id for message in effective_history(history.path)]
    assert after[2].blocks == (ToolResult("c0", "[Hidden to save space. recall_history e3 returns it.]"),)
    assert shown(history.path, bodies)[21].startswith("9: line 0")
    assert len([text for text in shown(history.path, bodies).values() if text.startswith("[Hidden")]) == 8


async def test_errors_the_first_message_and_pinned_ones_stay(counter: TokenCounter):
    history = History()
    history.user(LONG)
    history.add(AssistantMessage((ToolUse("c", "execute_command", {}),)))
    history.add(UserMessage((ToolResult("c", LONG, is_error=True),), source="tools"))
    history.user(LONG)
    history.answer(LONG)
    history.add(Pinned(4))
    history.answer("done")
    bodies = await run(
        history.path, options(counter, individual(recent=0, results=SUPPRESS, text=SUPPRESS)), window=200_000
    )
    (mask,) = bodies
    assert isinstance(mask, Mask)
    assert [item.entry_id for item in mask.items] == [5]


async def test_small_content_passes_untouched(counter: TokenCounter):
    history = steps(6)
    history.call("s")
    history.result("s", content="a few words that are longer than any placeholder, said again " * 3)
    history.answer("done")
    bodies = await run(history.path, options(counter, individual(recent=0, results=SUPPRESS, least=200)))
    assert shown(history.path, bodies)[16].startswith("a few words")
    assert shown(history.path, bodies)[3].startswith("[Hidden")


async def test_truncation_keeps_first_lines_then_first_characters(counter: TokenCounter):
    history = steps()
    bodies = await run(history.path, options(counter, individual(results=cut(maxLines=2))))
    assert shown(history.path, bodies)[3] == (
        "0: line 0 of a long output\nline 1 of a long output\n"
        "… [cut to save space; recall_history e3 returns all of it]"
    )
    bodies = await run(history.path, options(counter, individual(results=cut(maxLines=2, maxChars=9))))
    assert shown(history.path, bodies)[3] == "0: line 0… [cut to save space; recall_history e3 returns all of it]"
    bodies = await run(history.path, options(counter, individual(results=cut(maxChars=9, addEllipsis=False))))
    assert shown(history.path, bodies)[3] == "0: line 0"


async def test_inputs_are_measured_as_a_whole_and_their_short_strings_stay(counter: TokenCounter):
    history = steps(content="ok", given="echo " + "many words " * 100)
    bodies = await run(history.path, options(counter, individual(inputs=SUPPRESS, least=100)))
    visible = effective_history(appended(history.path, *bodies))
    call = visible[1].blocks[0]
    assert isinstance(call, ToolUse)
    assert call.input == {"command": "[Hidden to save space. recall_history e2 returns it.]"}
    assert (call.id, call.name) == ("c0", "execute_command")
    assert metrics(bodies)[-1].operations == ("toolParameters:suppress 9",)


async def test_an_override_is_for_one_selected_message(counter: TokenCounter):
    history = steps()
    config = individual(results=SUPPRESS)
    config["individualConfig"]["overrides"] = [
        {"messageIndex": 2, "operations": {"toolResults": {"operation": "keep"}}},
        {
            "messageIndex": 4,
            "operations": {},
            "messageTokenThresholds": {"toolResults": 50_000},
        },
    ]
    found = shown(history.path, await run(history.path, options(counter, config)))
    assert found[3].startswith("0: line")
    assert found[5].startswith("2: line") or found[5].startswith("1: line")
    assert found[7].startswith("[Hidden")


async def test_a_summary_takes_the_contents_place(counter: TokenCounter):
    history = steps()
    model = summariser("It worked.")
    bodies = await run(history.path, options(counter, individual(results=SUMMARIZE)), model)
    assert shown(history.path, bodies)[3] == (
        "[Summary of a longer text; recall_history e3 returns all of it.]\nIt worked."
    )
    (only,) = metrics(bodies)
    assert (only.model_calls, only.operations) == (8, ("toolResults:summarize 8",))
    assert only.cost_usd == pytest.approx(8 * (1_000 * 1.0 + 100 * 10.0) / 1e6)
    (mask,) = bodies
    assert isinstance(mask, Mask)
    assert mask.figures.cost_usd == pytest.approx(only.cost_usd)
    assert mask.figures.usage.output_tokens == 800
    assert {request.max_output for request in model.requests} == {50}
    assert "0: line 0 of a long output" in str(model.requests[0].messages)


async def test_a_summary_that_fails_leaves_the_beginning(counter: TokenCounter):
    history = steps(3)
    answers: list[Answer] = [ModelError("The service is down.", status=500), "Fine."]
    bodies = await run(history.path, options(counter, individual(recent=2, results=SUMMARIZE)), summariser(*answers))
    found = shown(history.path, bodies)
    assert len(found[3].partition("…")[0]) == 200
    assert found[5].endswith("Fine.")
    (only,) = metrics(bodies)
    assert only.error == "1 of 2 summaries failed: The service is down."
    assert only.operations == ("toolResults:summarize 1", "toolResults:truncate 1")


async def test_a_profile_of_its_own_writes_the_summaries_of_a_pass(counter: TokenCounter):
    writer = summariser("From the small model.")
    small = replace(MODEL, id="small", input_usd=0.0, output_usd=0.0)
    profiles = {"small": ProfileModel(writer.stream, OtherModel(small, 100_000, 1.0))}
    operation = {"operation": "summarize", "params": {"apiProfile": "small", "customPrompt": "In one line:"}}
    given = options(counter, individual(results=operation), profiles=profiles.get)
    usual = summariser()
    bodies = await run(steps().path, given, usual)
    assert usual.requests == []
    assert len(writer.requests) == 8
    assert "In one line:" in str(writer.requests[0].messages)
    assert "From the small model." in shown(steps().path, bodies)[3]
    unknown = await run(steps().path, options(counter, individual(results=operation)), summariser("Short."))
    last = unknown[-1]
    assert isinstance(last, Mask)
    assert last.figures.remarks == ("There is no profile “small”, so the usual model was asked.",)


async def test_a_batch_summary_keeps_its_ends_and_whole_pairs(counter: TokenCounter):
    history = steps()
    model = summariser("What was done.")
    bodies = await run(history.path, options(counter, batch(keepFirst=2, keepLast=3, maxTokens=400)), model)
    (condense,) = bodies
    assert isinstance(condense, Condense)
    # 22 messages, the last 4 stay and 3 more; a cut never parts a call from its result.
    assert condense.hides == tuple(range(4, 16))
    assert model.requests[0].max_output == 400
    visible = effective_history(appended(history.path, *bodies))
    assert [message.source for message in visible[:5]] == ["entry", "entry", "entry", "summary", "entry"]
    assert condense.figures.tokens_after == condense.figures.tokens_before - counter.count_messages(
        effective_history(history.path)
    ) + counter.count_messages(visible)


async def test_a_batch_summary_carries_the_open_request_commands_and_pins(counter: TokenCounter):
    history = History()
    words = '<command name="review">Look at each file twice.</command>'
    history.add(UserMessage((Text(words),), words=words))
    history.answer("yes")
    history.user("fix the dates, and never touch the lock file")
    for number in range(8):
        history.call(f"c{number}")
        history.result(f"c{number}", content=LONG)
    history.add(Pinned(5))
    bodies = await run(history.path, options(counter, batch(keepFirst=0)), summariser("Short."))
    (condense,) = bodies
    assert isinstance(condense, Condense)
    text = str(condense.summary)
    assert "Look at each file twice." in text
    assert "fix the dates, and never touch the lock file" in text
    assert "line 79 of a long output" in text


async def test_a_batch_summary_that_is_not_smaller_changes_nothing(counter: TokenCounter):
    history = steps(4, "short")
    with pytest.raises(CondenseError, match="not smaller") as caught:
        await run(
            history.path,
            options(counter, individual(recent=0, results=cut(maxChars=1)), batch(keepFirst=0)),
            summariser("a far longer answer than all that was said " * 50),
        )
    assert caught.value.body.cost_usd


async def test_a_batch_that_fails_keeps_what_earlier_passes_did(counter: TokenCounter):
    history = steps()
    bodies = await run(
        history.path,
        options(counter, individual(results=cut(maxLines=8)), batch()),
        summariser(ModelError("The service is down.", status=500)),
    )
    assert [type(body) for body in bodies] == [Mask]
    assert [one.error for one in metrics(bodies)] == ["", "The service is down."]


async def test_masks_and_a_condense_come_together_each_with_its_count(counter: TokenCounter):
    history = steps()
    bodies = await run(history.path, options(counter, individual(recent=2, results=cut(maxLines=5)), batch(keepLast=4)))
    mask, condense = bodies
    assert isinstance(mask, Mask) and isinstance(condense, Condense)
    assert mask.figures.tokens_after == condense.figures.tokens_before
    assert mask.figures.passes == ()
    assert not {item.entry_id for item in mask.items} & set(condense.hides)
    passes = metrics(bodies)
    assert [one.name for one in passes] == ["a", "batch"]
    assert passes[0].tokens_before == mask.figures.tokens_before
    assert passes[1].tokens_after == condense.figures.tokens_after


async def test_it_stops_as_soon_as_the_target_is_reached(counter: TokenCounter):
    history = steps()
    per_strategy = {"smart": Thresholds(stop_tokens=3_000)}
    passes = individual("one", results=cut(maxLines=8)), individual("two", results=SUPPRESS)
    given = options(counter, *passes, per_strategy=per_strategy)
    assert [one.name for one in metrics(await run(history.path, given))] == ["one"]
    assert [one.name for one in metrics(await run(history.path, options(counter, *passes)))] == ["one", "two"]


async def test_a_pass_has_a_trigger_a_stop_and_a_least_gain_of_its_own(counter: TokenCounter):
    history = steps()
    now = inputs(history.path, counter).context_tokens
    config = individual(results=SUPPRESS) | {"thresholds": {"stopTokens": now - 1_000}}
    bodies = await run(history.path, options(counter, config))
    (only,) = metrics(bodies)
    assert now - 2_000 < only.tokens_after <= now - 1_000
    config["thresholds"] = {"minGainTokens": now}
    with pytest.raises(CondenseRefused):
        await run(history.path, options(counter, config))
    config["thresholds"] = {"triggerTokens": now + 1}
    with pytest.raises(CondenseRefused):
        await run(history.path, options(counter, config))


async def test_the_prelude_runs_first_and_its_switches_hold(counter: TokenCounter):
    history = steps(0)
    for number in range(3):
        history.call(f"d{number}")
        history.result(f"d{number}", content=LONG)
    history.answer("done")
    bodies = await run(history.path, options(counter, prelude=True))
    (only,) = metrics(bodies)
    assert (only.name, only.operations, only.model_calls) == ("lossless_prelude", ("mask 2",), 0)
    off = json.dumps({"losslessPrelude": {"operations": {"deduplicateFileReads": False}}, "passes": []})
    with pytest.raises(CondenseRefused):
        await run(history.path, StrategyOptions(counter, preset="custom", custom=off))


async def test_without_summaries_preparing_is_all_there_is_to_do(counter: TokenCounter):
    history = steps()
    given = options(counter, individual(results=SUPPRESS))
    now = inputs(history.path, counter)
    plan = SmartStrategy().prepare(now, given)
    assert plan.preview.model_calls == 0
    assert plan.bodies == await SmartStrategy().perform(
        plan, now, services_for(summariser(ModelError("no")), counter), given
    )


async def test_the_plan_foresees_calls_and_size_without_asking(counter: TokenCounter):
    history = steps()
    given = options(counter, individual(results=SUMMARIZE))
    now = inputs(history.path, counter)
    plan = SmartStrategy().prepare(now, given)
    assert (plan.preview.model_calls, plan.bodies) == (8, ())
    model = summariser("word " * 50)
    bodies = await SmartStrategy().perform(plan, now, services_for(model, counter), given)
    last = bodies[-1]
    assert isinstance(last, Mask)
    assert abs(last.figures.tokens_after - plan.preview.tokens_after) < 30


async def test_a_custom_configuration_that_is_wrong_is_told_before_anything_runs(counter: TokenCounter):
    history = steps()
    given = StrategyOptions(counter, preset="custom", custom='{"passes": [{"id": "a", "mode": "x"}]}')
    with pytest.raises(SettingsError, match=r"passes\[0\].mode"):
        SmartStrategy().prepare(inputs(history.path, counter), given)


async def test_what_a_retry_cost_is_counted(counter: TokenCounter):
    history = steps(3)
    bodies = await run(
        history.path, options(counter, individual(recent=4, results=SUMMARIZE)), summariser(Reply("ok", void="void"))
    )
    (only,) = metrics(bodies)
    assert only.cost_usd is not None
    assert only.cost_usd > only.model_calls * (1_000 + 1_000) / 1e6


def test_the_price_is_not_known_where_the_models_is_not(counter: TokenCounter):
    history = steps()
    wanted = options(counter, individual(recent=4, results=SUMMARIZE))
    known = SmartStrategy().prepare(inputs(history.path, counter), wanted).preview
    assert known.model_calls and known.cost_usd == pytest.approx(
        (known.usage.input_tokens + 10 * known.usage.output_tokens) / 1e6
    )
    unpriced = inputs(history.path, counter, model=ModelInfo("x", "y"))
    assert SmartStrategy().prepare(unpriced, wanted).preview.cost_usd is None
