"""The command line of the benches, and what the benches of cost and survival report."""

import asyncio
import json
from pathlib import Path

import pytest

from bench import __main__ as command
from bench import condense_cost, recall, survival
from bench.cache_server import summary
from bench.condense_cost import Bill, Pair, Run
from roo_tui.context.condense.summary_call import missing_sections
from roo_tui.domain.usage import Usage


def test_without_a_name_the_benches_are_listed_with_their_questions(capsys: pytest.CaptureFixture[str]) -> None:
    assert command.run([]) == 0
    listed = capsys.readouterr().out.splitlines()
    for name, question in command.benches().items():
        assert question.endswith("?")
        assert any(line.split(maxsplit=1) == [name, question] for line in listed)


def test_an_unknown_name_is_told_with_the_known_ones(capsys: pytest.CaptureFixture[str]) -> None:
    assert command.run(["nonsense"]) == 2
    told = capsys.readouterr().err
    assert told.startswith("There is no bench named 'nonsense'. Choose one of: acceptance, ")


@pytest.mark.parametrize("tokens", condense_cost.ANSWERS)
def test_a_summary_has_its_nine_sections_and_exactly_its_length(tokens: int) -> None:
    assert len(summary(tokens)) == 4 * tokens
    assert not missing_sections(summary(tokens))


def test_condense_cost_is_forecast_without_the_length_and_billed_with_it(capsys: pytest.CaptureFixture[str]) -> None:
    assert condense_cost.main(["--json", "--tokens", "30000"]) == 0
    answers = json.loads(capsys.readouterr().out)["answers"]
    assert [one["answer_tokens"] for one in answers] == [300, 1_500, 5_000, 9_000]
    for shape in ("fresh", "cached"):
        runs = [one[shape] for one in answers]
        assert [run["billed"]["usage"]["output_tokens"] for run in runs] == [300, 1_500, 5_000, 9_000]
        assert len({run["forecast"]["usage"]["output_tokens"] for run in runs}) == 1
        assert runs[1]["total_off"] < 0.1 < runs[-1]["total_off"]


def test_a_cached_prompt_that_saves_too_little_is_missed() -> None:
    usage = Usage(cache_read_tokens=90, cache_write_tokens=10, output_tokens=300)
    fresh = Run("fresh", 300, Bill(usage, 1.0, 2.0), Bill(usage, 1.1, 2.1), 100, 10)
    cached = Run("cached", 300, Bill(usage, 0.3, 1.3), Bill(usage, 0.4, 1.4), 100, 10)
    assert [sentence.partition(" with")[0] for sentence in Pair(fresh, cached).missed()] == [
        "cached",
        "Only 90% of the prompt is read from the cache",
        "The cached prompt costs 30% of the fresh one",
    ]


def test_survival_reports_each_kind_apart(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    content = "\n".join(f"value_{number} = compute({number})" for number in range(300))
    messages: list[dict[str, object]] = [{"role": "user", "content": "Please write the tables."}]
    for number in range(9):
        given = {"file_path": f"src/table_{number}.py", "content": content}
        use = {"type": "tool_use", "id": f"t{number}", "name": "Write", "input": given}
        result = {"type": "tool_result", "tool_use_id": f"t{number}", "content": "Written."}
        messages += [{"role": "assistant", "content": [use]}, {"role": "user", "content": [result]}]
    messages.append({"role": "assistant", "content": "The tables are written."})
    (tmp_path / "one.json").write_text(json.dumps(messages))
    assert survival.main(["--transcripts", str(tmp_path), "--json"]) == 0
    kinds = json.loads(capsys.readouterr().out)["kinds"]
    assert {kind: found["artefacts"] for kind, found in kinds.items() if found["artefacts"]} == {
        "path": 9,
        "change": 9,
        "request": 1,
    }
    assert kinds["path"]["in_context"] == 9
    assert kinds["change"]["in_context"] == 0


def test_recall_counts_the_questions_that_the_first_hits_answer(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    said = ("The staging port is 8443.", "Noted.", "Paint the gate green.", "Done.")
    messages = [{"role": ("user", "assistant")[at % 2], "content": text} for at, text in enumerate(said)]
    (tmp_path / "one.json").write_text(json.dumps(messages))
    asked = [
        {"conversation": "one", "queries": ["staging port"], "answer": "8443"},
        {"conversation": "one", "queries": ["gate"], "answer": "blue"},
    ]
    questions = tmp_path / "questions.jsonl"
    questions.write_text("\n".join(map(json.dumps, asked)))
    assert recall.main(["--transcripts", str(tmp_path), "--questions", str(questions), "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["found"] == {"plain": 0.5}
    asked[0]["conversation"] = "two"
    questions.write_text(json.dumps(asked[0]))
    assert recall.main(["--transcripts", str(tmp_path), "--questions", str(questions)]) == 1
    assert "There is no conversation two" in capsys.readouterr().err


def test_facts_said_once_are_found_in_a_generated_conversation() -> None:
    bodies, questions = recall.generate(600)
    answered, _ = asyncio.run(recall.measure({"generated": bodies}, questions))
    assert sum(one.place == 1 for one in answered) >= 95


@pytest.mark.parametrize("bench", ["strategies", "survival"])
def test_a_folder_without_conversations_is_named(
    bench: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert command.run([bench, "--transcripts", str(tmp_path)]) == 2
    assert "There are no conversations" in capsys.readouterr().err
