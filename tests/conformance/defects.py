"""What a right result satisfies where Roo Code's is wrong: one check for each entry of `known-defects.json`.

A check gets the entry's input and its recorded output, and looks at ours alone: the output says what not to be like.
"""

import asyncio
import re
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from roo_tui.context.condense.cut_point import command_blocks
from roo_tui.context.condense.file_outlines import fold
from roo_tui.context.guards import Guards
from roo_tui.context.history.effective import Visible, effective_history, with_marker
from roo_tui.context.sliding_window import slide_window
from roo_tui.context.window.overflow import recognise
from roo_tui.context.window.policy import decide
from roo_tui.domain.blocks import Opaque, Text, Thinking, tool_results, tool_uses
from roo_tui.domain.markers import Condense, CondenseFailed, Truncation
from roo_tui.outline import signatures
from tests.conformance import outlines
from tests.conformance.condensing import run, summarize
from tests.conformance.counting import model_error
from tests.conformance.folding import definitions, grammar_of, may_be_outlined, parses
from tests.conformance.histories import Json, is_hidden, seen
from tests.conformance.managing import inputs_of, manage, path_after, reduced
from tests.conformance.rewinding import head_before
from tests.conformance.rule import RuleCounter, fold_of
from tests.conformance.tagged import json_of, log_of, next_request, plain_all, sent, untagged
from tests.conformance.truncating import is_half, is_sound, nothing_can_go
from tests.conformance.verdict import Findings
from tests.support.api_rules import violations

_HANDLER: Json = {"chunks": [{"type": "text", "text": "Summary"}]}


def truncation(given: Json, recorded: Any, found: Findings) -> None:
    """What is hidden was sent, the summary and whole pairs stay, the line is seen."""
    path = log_of(given["messages"]).path()
    marker = slide_window(path, RuleCounter())
    if marker is None:
        nothing_can_go(seen(given["messages"]), found)
        return
    is_sound(path, marker, found)
    is_half(path, marker, found)
    _pairs_are_whole(with_marker(path, marker), found)


def token_count_after_truncation(given: Json, recorded: Any, found: Findings) -> None:
    """What is reported is the count of system prompt, tools and the next request's messages."""
    path, counter = log_of(given["messages"]).path(), RuleCounter()
    inputs, model = inputs_of(given, path, 0)
    raw = counter.count_request(inputs.system, inputs.tools, effective_history(path))
    given = {**given, "contextWindow": raw}
    inputs, model = inputs_of(given, path, raw, ratio=1.0)
    marker = asyncio.run(reduced(inputs, model, given))[-1]
    if found.check(isinstance(marker, Truncation), "nothing is truncated") and isinstance(marker, Truncation):
        after = effective_history(path_after(path, marker))
        expected = counter.count_request(inputs.system, inputs.tools, after)
        found.expect("tokens after", expected, marker.figures.tokens_after)
        found.check(bool(inputs.tools), "the case has no tools")


def hidden_messages_are_not_summarised(given: Json, recorded: Any, found: Findings) -> None:
    """Nothing hidden is in the request for the summary."""
    inputs, model = inputs_of({**_LIMITS, **given}, log_of(given["messages"]).path(), 0, ratio=1.0)
    run(inputs, model, given, RuleCounter())
    found.expect("requests", 1, len(model.requests))
    asked = str([json_of(message.blocks) for message in model.requests[0].messages])
    for message in given["messages"]:
        if is_hidden(message, given["messages"]):
            words = re.findall(r"'(?:content|text)': '([^']{20,})", str(plain_all([message])))
            found.check(not any(word in asked for word in words), f"hidden and sent: {message}")
    summarize(given, recorded, found)


def no_truncation_of_nothing(given: Json, recorded: Any, found: Findings) -> None:
    """No truncation where nothing is hidden, and the context is known to be over its limit still."""
    path = log_of(given["messages"]).path()
    tokens = given["totalTokens"] + RuleCounter().count_messages(effective_history(path)[-1:])
    inputs, model = inputs_of(given, path, tokens)
    bodies = asyncio.run(reduced(inputs, model, given))
    nothing_can_go(seen(given["messages"]), found)
    found.expect("what is done", (), bodies)
    found.expect("what is still so", "over", decide(tokens, inputs.limits))


def condense_can_be_taken_back(given: Json, recorded: Any, found: Findings) -> None:
    """After a rewind to a condense its summary is gone, and what it replaced is in the request again."""
    log = log_of(given["apiConversationHistory"], given["clineMessages"])
    log.move(head_before(log, given["clineMessages"], _place(given)))
    visible = effective_history(log.path())
    condensed = [message for message in given["apiConversationHistory"] if message.get("condenseParent")]
    found.check(all(one.source == "entry" for one in visible), "the summary is still there")
    found.expect("messages", plain_all(untagged(condensed)), sent(visible))


def rewind_takes_the_answer(given: Json, recorded: Any, found: Findings) -> None:
    """Nothing made for the interface message or later is left; a person's early words keep the answer before them."""
    history, events = given["apiConversationHistory"], given["clineMessages"]
    log = log_of(history, events)
    log.move(head_before(log, events, _place(given)))
    found.check(all(entry.at_ms < given["ts"] for entry in log.path()), "something made later is left")
    found.check(bool(log.path()), "everything is gone")
    early = next(at for at, message in enumerate(history) if message["role"] == "assistant")
    words = {"type": "say", "say": "user_feedback", "ts": history[early]["ts"] - 1}
    events = sorted([*events, words], key=lambda event: event["ts"])
    log = log_of(history, events)
    log.move(head_before(log, events, events.index(words)))
    found.expect("messages before early words", early + 1, len(log.path()))


def rewind_takes_what_has_no_time(given: Json, recorded: Any, found: Findings) -> None:
    """What comes after the cut in the list goes, with or without a time."""
    history, events = given["apiConversationHistory"], given["clineMessages"]
    log = log_of(history, events)
    log.move(head_before(log, events, _place(given)))
    cut = next(at for at, message in enumerate(history) if (message.get("ts") or 0) >= given["ts"])
    found.expect("messages left", plain_all(history[:cut]), sent(effective_history(log.path())))


def results_come_first(given: Json, recorded: Any, found: Findings) -> None:
    """Results stand first in a user message that answers calls, the other blocks follow in order."""
    messages = _request(given["messages"], found)
    for message in messages:
        kinds = [block.type == "tool_result" for block in message.blocks]
        found.check(kinds == sorted(kinds, reverse=True), f"text before a result: {kinds}")
    found.check(any(tool_results(message.blocks) for message in messages), "the result is lost")


def nothing_empty(given: Json, recorded: Any, found: Findings) -> None:
    """No empty text and no empty message is sent."""
    for message in _request(given["messages"], found):
        empty = [block for block in message.blocks if isinstance(block, Text) and not block.text.strip()]
        found.check(bool(message.blocks) and not empty, f"empty: {message}")


def errors_are_judged(given: Sequence[Json], recorded: Any, found: Findings, entry: Json) -> None:
    """Each row of the table is judged as it says."""
    for row in entry["table"]:
        ours = recognise(model_error(row["error"]), 2_000_000, 200_000) is not None
        found.expect(row["what"], row["should_be"], ours)


def summary_request_is_clean(given: Json, recorded: Any, found: Findings) -> None:
    """The request for the summary passes the checks of every request, and has no block of an unknown kind."""
    path = log_of(given["messages"]).path()
    inputs, model = inputs_of({**_LIMITS, **given}, path, 0, ratio=1.0)
    run(inputs, model, given, RuleCounter())
    if found.expect("requests", 1, len(model.requests)):
        found.expect("refusals", [], violations(model.requests[0].messages))
        odd = [
            one
            for message in model.requests[0].messages
            for one in message.blocks
            if isinstance(one, Opaque | Thinking)
        ]
        found.expect("odd blocks", [], odd)
    summarize(given, recorded, found)


def late_result_reaches_the_model(given: Json, recorded: Any, found: Findings) -> None:
    """The words of a result whose call was condensed away are in the request."""
    visible = effective_history(log_of(given["messages"]).path())
    calls = {call.id for one in visible for call in tool_uses(one.blocks)}
    asked = str(sent(visible))
    late = [result for one in visible for result in tool_results(one.blocks) if result.tool_use_id not in calls]
    found.check(bool(late) and all(str(result.content) in asked for result in late), "a late result is lost")
    found.expect("refusals", [], violations(next_request(visible)))


def forced_reductions_shrink(given: Json, recorded: Any, found: Findings) -> None:
    """Each retry after a context-window error sends a smaller request, until nothing more can be done."""
    path, counter = log_of(given["messages"]).path(), RuleCounter()
    guards, smaller = Guards(), 0
    for _ in range(3):
        before = counter.count_messages(effective_history(path))
        inputs, model = inputs_of(given, path, given["totalTokens"], trigger="forced")
        for body in asyncio.run(reduced(inputs, model, given, guards)):
            path = path_after(path, body)
        after = counter.count_messages(effective_history(path))
        found.check(after <= before, "a reduction made it larger")
        smaller += after < before
    found.check(smaller > 0, "nothing was reduced")
    own = {**given, "profileThresholds": {given["currentProfileId"]: 100}}
    inputs, model = inputs_of(own, log_of(given["messages"]).path(), given["totalTokens"], trigger="forced")
    found.check(bool(asyncio.run(reduced(inputs, model, own))), "a threshold of the profile stopped it")


def condense_never_grows(given: Json, recorded: Any, found: Findings) -> None:
    """A condense leaves less than before or changes nothing, and is not tried again at once."""
    path, guards = log_of(given["messages"]).path(), Guards()
    inputs, model = inputs_of(given, path, given["totalTokens"])
    bodies = asyncio.run(reduced(inputs, model, given, guards))
    for body in bodies:
        if isinstance(body, Condense):
            found.check(body.figures.tokens_after < body.figures.tokens_before, "it grew")
        found.check(isinstance(body, Condense | CondenseFailed), f"{body.kind} was not expected")
        path = path_after(path, body)
    if not any(isinstance(body, Condense) for body in bodies):
        found.expect("the history", effective_history(inputs.path), effective_history(path))
    asked = len(model.requests)
    again, _ = inputs_of(given, path, given["totalTokens"])
    asyncio.run(reduced(again, model, given, guards))
    found.expect("requests of a second try", asked, len(model.requests))


def outlines_have_every_definition(given: Sequence[Json], recorded: Any, found: Findings) -> None:
    """Top-level definitions of four lines or more have a row with their own range and first line."""
    for file in given:
        path, lines = file["path"], file["content"].split("\n")
        rows = re.findall(r"^(\d+)--(\d+) \| (.*)$", signatures.outline(path, file["content"]), re.MULTILINE)
        found.check(may_be_outlined(path, file["content"]) or not rows, f"an outline of {path}")
        ends = {(int(last), line.rstrip()): int(first) for first, last, line in rows}
        for first, last in definitions(path, lines) if grammar_of(path) and parses(path, file["content"]) else ():
            if last - first >= 3:
                own = ends.get((last + 1, lines[first].rstrip()))
                found.check(own is not None and own <= first + 1, f"{path} {first + 1}--{last + 1}: {lines[first]}")


def outline_keeps_its_limit(given: Json, recorded: Any, found: Findings) -> None:
    """At most the characters allowed, cut between lines, whole characters."""
    outlines.folded(given, recorded, found)
    ours = asyncio.run(fold(given["filePaths"], given["maxCharacters"], fold_of(given)))
    found.check(sum(map(len, ours.sections)) <= given["maxCharacters"], "too long")
    found.check(bool(ours.sections), "nothing is outlined")


def outline_is_no_error(given: Json, recorded: Any, found: Findings) -> None:
    """A file whose code has the words of an error is outlined like any other."""
    ours = asyncio.run(fold(given["filePaths"], 50_000, fold_of(given)))
    found.expect("sections", len(given["filePaths"]), len(ours.sections))
    found.expect("unreadable", 0, ours.unreadable)


def only_commands(given: Json, recorded: Any, found: Findings) -> None:
    """Only `<command>` and `<command …>` open a block."""
    ours = command_blocks(given["message"]["content"])
    found.check(bool(ours) and all(re.match(r"<command[\s>]", block) for block in ours), f"{ours}")
    found.expect("hyphens", [], command_blocks("<command-name>x</command-name> </command>"))


def grammars_are_loaded_once(given: Any, recorded: Any, found: Findings) -> None:
    """Grammar and query are made once for each language, and memory does not grow with the number of outlines."""
    files = {f"a{number}.{ending}": f"{ending}\n" * 400 for number in range(2) for ending in ("py", "go", "ts")}
    for path, text in files.items():
        signatures.outline(path, text)
    loaded, memory = signatures._grammar.cache_info().misses, _resident_kb()
    for _ in range(100):
        for path, text in files.items():
            signatures.outline(path, text)
    found.expect("grammars loaded again", loaded, signatures._grammar.cache_info().misses)
    found.check(_resident_kb() - memory < 20_000, f"{_resident_kb() - memory} kB more after 600 outlines")


def forced_is_not_silent(given: Any, recorded: Any, found: Findings) -> None:
    """A forced reduction tells its error and cost, uses the custom prompt, outlines and environment details."""
    messages = [{"role": role, "content": f"{role} {'word ' * 200}"} for role in ("user", "assistant") * 4]
    files = {"a.py": "def one():\n    a = 1\n    b = 2\n    return a\n"}
    case: Json = {
        **_LIMITS,
        "systemPrompt": "s",
        "customCondensingPrompt": "Only the facts.",
        "environmentDetails": "<environment_details>\nnow\n</environment_details>",
        "filesReadByRoo": ["a.py"],
        "files": files,
        "handler": {"chunks": [{"type": "text", "text": "Short."}, _USED]},
    }
    path = log_of(messages).path()
    inputs, model = inputs_of(case, path, 1, trigger="forced", ratio=1.0)
    (marker,) = asyncio.run(reduced(inputs, model, case))
    if found.check(isinstance(marker, Condense), "not condensed") and isinstance(marker, Condense):
        said = "\n".join(block.text for block in marker.summary if isinstance(block, Text))
        found.check("a.py" in said and "def one():" in said, "no outline")
        found.check(said.endswith(case["environmentDetails"]), "no environment details")
        found.check("Only the facts." in str(model.requests[0].messages[-1]), "not the custom prompt")
    failing = {**case, "handler": {"chunks": [{"type": "text", "text": " "}, _USED]}}
    inputs, model = inputs_of(failing, path, 1, trigger="forced", ratio=1.0)
    told = [one for one in asyncio.run(reduced(inputs, model, failing)) if isinstance(one, CondenseFailed)]
    if found.expect("failures told", 1, len(told)):
        found.check(bool(told[0].message) and told[0].cost_usd == 0.5, f"{told[0]}")


def _request(messages: Sequence[Json], found: Findings) -> tuple[Any, ...]:
    asked = next_request(effective_history(log_of(messages).path()))
    found.expect("refusals", [], violations(asked))
    return asked


def _pairs_are_whole(visible: Sequence[Visible], found: Findings) -> None:
    """Each result names a call of the message before, each call but those of the last message is answered."""
    for before, message in zip([None, *visible], visible, strict=False):
        calls = {call.id for call in tool_uses(before.blocks)} if before else set()
        results = {result.tool_use_id for result in tool_results(message.blocks)}
        found.check(results <= calls, f"results without calls: {results - calls}")
        found.check(calls <= results, f"calls without results: {calls - results}")


def _place(given: Json) -> int:
    return next(at for at, event in enumerate(given["clineMessages"]) if event["ts"] == given["ts"])


def _resident_kb() -> int:
    return int(Path("/proc/self/statm").read_text().split()[1]) * 4


_USED: Json = {"type": "usage", "inputTokens": 100, "outputTokens": 20, "totalCost": 0.5}
_LIMITS: Json = {
    "contextWindow": 200_000,
    "autoCondenseContext": True,
    "autoCondenseContextPercent": 100,
    "profileThresholds": {},
    "currentProfileId": "",
}

CHECKS: Mapping[str, Callable[..., None]] = {
    "truncation-counts-condensed-messages": truncation,
    "truncation-hides-summary-and-splits-pair": truncation,
    "truncation-splits-pair-after-two-user-messages": truncation,
    "truncation-after-manual-condensation": truncation,
    "token-count-after-truncation": token_count_after_truncation,
    "hidden-messages-are-sent-to-the-summary": hidden_messages_are_not_summarised,
    "truncation-event-without-truncation": no_truncation_of_nothing,
    "forced-condensation-cannot-be-undone": condense_can_be_taken_back,
    "rewind-keeps-the-deleted-answer": rewind_takes_the_answer,
    "messages-without-ts-survive-a-rewind": rewind_takes_what_has_no_time,
    "merge-puts-text-before-a-result": results_come_first,
    "merge-makes-empty-text-blocks": nothing_empty,
    "context-window-errors-misjudged": errors_are_judged,
    "summary-request-is-not-cleaned": summary_request_is_clean,
    "late-result-is-lost": late_result_reaches_the_model,
    "empty-history-raises": manage,
    "forced-reduction-may-do-nothing": forced_reductions_shrink,
    "condensation-may-grow-the-context": condense_never_grows,
    "outline-loses-definitions": outlines_have_every_definition,
    "outline-exceeds-its-limit": outline_keeps_its_limit,
    "outline-taken-for-an-error": outline_is_no_error,
    "command-tag-by-prefix": only_commands,
    "outline-reloads-grammars": grammars_are_loaded_once,
    "forced-path-is-silent": forced_is_not_silent,
}
"""Checks of our own context code. Those of the engine are tests: `test_known_defects`."""
