"""The transcript as people use it: keys, clicks, streams, scrolling, sizes, themes."""

import asyncio
import random
from time import monotonic

import pytest
from textual.app import App, ComposeResult
from textual.geometry import Offset
from textual.pilot import Pilot
from textual.selection import Selection
from textual.widgets import Input

from roo_tui.domain.views import (
    AnswerRow,
    CheckpointRow,
    CommandView,
    DiffView,
    FailureRow,
    FileView,
    ListView,
    ReductionRow,
    Row,
    RowBody,
    TextView,
    ThinkingRow,
    TodoView,
    ToolRow,
    ToolView,
    UserRow,
)
from roo_tui.tui.widgets.transcript import TranscriptView
from roo_tui.tui.widgets.views.canvas import GUTTER

_SUMMARY = "## Summary\n\n1. Primary request and intent\n2. Pending tasks"


class TranscriptApp(App[None]):
    """The transcript and a prompt below it."""

    CSS = "Input { height: 1; border: none; }"
    AUTO_FOCUS = "Input"

    def __init__(self) -> None:
        super().__init__()
        self.said: list[tuple[str, ...]] = []

    def compose(self) -> ComposeResult:
        yield TranscriptView()
        yield Input()

    def on_transcript_view_row_action(self, event: TranscriptView.RowAction) -> None:
        self.said.append((event.action, event.key))

    @property
    def transcript(self) -> TranscriptView:
        return self.query_one(TranscriptView)

    def screen_lines(self) -> list[str]:
        return [strip.text.rstrip() for strip in self.transcript._screen_strips]


def _row(number: int, body: RowBody, in_context: bool = True, key: str = "") -> Row:
    return Row(key or f"e{number}", number, body, in_context)


def _condense(on: bool = True, receipt: tuple[str, ...] = ()) -> ReductionRow:
    return ReductionRow(
        "condense", on, 148_210, 9_874, 0.08, "manual", "native, cached", 128, _SUMMARY, "thinking it over", receipt
    )


def _talk(count: int, seed: int = 7) -> list[Row]:
    """Questions and answers of very different lengths, so that estimates of heights are wrong."""
    chance = random.Random(seed)
    rows = []
    for number in range(count):
        if number % 2:
            lines = (f"line {number}.{at} " + "word " * chance.randrange(40) for at in range(chance.randrange(1, 12)))
            rows.append(_row(number, AnswerRow("\n\n".join(lines))))
        else:
            rows.append(_row(number, UserRow(f"question {number}", 0)))
    return rows


def _whole_text(transcript: TranscriptView) -> list[str]:
    layout = transcript._list.layout
    start = layout.spot_at(0)
    return [place.strip.text.rstrip() for place in layout.down(start)] if start else []


def _words(lines: list[str]) -> str:
    return "".join("".join(line[GUTTER:] for line in lines).split())


async def _show(pilot: Pilot[None], rows: list[Row], focus: bool = True) -> TranscriptView:
    transcript = pilot.app.query_one(TranscriptView)
    transcript.set_rows(rows)
    if focus:
        transcript.focus()
    await pilot.pause()
    await pilot.pause()
    return transcript


# keys and clicks


async def test_enter_opens_and_folds_the_row_of_the_cursor():
    app = TranscriptApp()
    async with app.run_test(size=(100, 20)) as pilot:
        transcript = await _show(pilot, [_row(1, UserRow("hello", 0)), _row(2, _condense())])
        await pilot.press("end")
        assert transcript.selected_key == "e2"
        assert "Primary request and intent" not in "\n".join(app.screen_lines())
        await pilot.press("enter")
        await pilot.pause()
        assert "Primary request and intent" in "\n".join(app.screen_lines())
        await pilot.press("enter")
        await pilot.pause()
        assert "Primary request and intent" not in "\n".join(app.screen_lines())


async def test_up_down_j_k_home_and_end_move_the_cursor():
    app = TranscriptApp()
    async with app.run_test(size=(80, 24)) as pilot:
        transcript = await _show(pilot, [_row(at, CheckpointRow(f"abc{at}", ("a.py",))) for at in range(60)])
        assert transcript.selected_key == "e59"
        await pilot.press("up", "k")
        assert transcript.selected_key == "e57"
        await pilot.press("down", "j")
        assert transcript.selected_key == "e59"
        await pilot.press("home")
        assert (transcript.selected_key, transcript.scroll_offset.y) == ("e0", 0)
        await pilot.press("pagedown", "end")
        assert (transcript.selected_key, transcript.follows) == ("e59", True)


async def test_moving_up_from_row_to_row_keeps_the_cursor_on_the_screen():
    app = TranscriptApp()
    async with app.run_test(size=(60, 16)) as pilot:
        transcript = await _show(pilot, _talk(12))
        for _ in range(200):
            if transcript.selected_key == "e0":
                break
            await pilot.press("up")
            assert any(place.box.key == transcript.selected_key for place in transcript._places)
        assert transcript.selected_key == "e0"
        for _ in range(200):
            if transcript.selected_key == "e11" and transcript.follows:
                break
            await pilot.press("down")
            assert any(place.box.key == transcript.selected_key for place in transcript._places)
        assert (transcript.selected_key, transcript.follows) == ("e11", True)


@pytest.mark.parametrize(
    ("body", "key", "action"),
    [
        (_condense(), "u", "undo"),
        (_condense(on=False), "u", "redo"),
        (_condense(receipt=("edited a.py",)), "a", "append_receipt"),
        (FailureRow("Condense failed", "busy", "HTTP 529"), "r", "retry"),
        (FailureRow("Condense failed", "busy", "HTTP 529"), "m", "profile"),
        (FailureRow("Condense failed", "busy", "HTTP 529"), "c", "copy"),
        (ReductionRow("truncation", True, 10, 5, None, "automatic", "", 3), "s", "condense_instead"),
        (UserRow("words", 0), "c", "copy"),
    ],
)
async def test_a_key_of_the_title_asks_for_its_action(body: RowBody, key: str, action: str):
    app = TranscriptApp()
    async with app.run_test(size=(110, 20)) as pilot:
        await _show(pilot, [_row(1, body)])
        await pilot.press("end", key)
        assert app.said == [(action, "e1")]


async def test_a_covered_condense_cannot_be_undone_from_its_row():
    app = TranscriptApp()
    async with app.run_test(size=(110, 20)) as pilot:
        body = ReductionRow("condense", True, 10, 5, None, "manual", "native", 3, covered_by=9)
        await _show(pilot, [_row(1, body)])
        await pilot.press("end", "u")
        assert app.said == []


async def test_a_click_on_the_first_line_opens_a_row_and_one_on_undo_acts():
    app = TranscriptApp()
    async with app.run_test(size=(110, 20)) as pilot:
        transcript = await _show(pilot, [_row(1, _condense())], focus=False)
        line = app.screen_lines()[0]
        await pilot.click(TranscriptView, offset=(line.index("u undo"), 0))
        assert app.said == [("undo", "e1")]
        await pilot.click(TranscriptView, offset=(6, 0))
        await pilot.pause()
        assert app.said[1:] == []
        assert "Pending tasks" in "\n".join(app.screen_lines())
        await pilot.click(TranscriptView, offset=(8, 2))
        assert app.said[1:] == []
        assert transcript.text_selection is None


async def test_two_clicks_do_not_select_everything():
    app = TranscriptApp()
    async with app.run_test(size=(80, 20)) as pilot:
        transcript = await _show(pilot, _talk(4))
        await pilot.click(TranscriptView, offset=(10, 3), times=2)
        assert transcript.text_selection is None


async def test_hovering_shows_the_keys_of_a_row():
    app = TranscriptApp()
    async with app.run_test(size=(110, 20)) as pilot:
        await _show(pilot, [_row(1, FailureRow("Condense failed", "busy"))], focus=False)
        assert "r retry" not in app.screen_lines()[0]
        await pilot.hover(TranscriptView, offset=(6, 0))
        assert "r retry" in app.screen_lines()[0]
        await pilot.hover(Input)
        assert "r retry" not in app.screen_lines()[0]


# scrolling


async def test_scrolling_line_by_line_shows_every_line_once_though_heights_were_estimates():
    app = TranscriptApp()
    async with app.run_test(size=(50, 12)) as pilot:
        transcript = await _show(pilot, _talk(12), focus=False)
        seen = list(app.screen_lines())
        for _ in range(2_000):
            if transcript.scroll_offset.y == 0:
                break
            before = app.screen_lines()
            transcript.scroll_relative(y=-1, animate=False)
            await pilot.pause()
            assert app.screen_lines()[1:] == before[:-1]
            seen.insert(0, app.screen_lines()[0])
        assert seen == _whole_text(transcript)


async def test_page_up_and_down_come_back_to_the_same_lines():
    app = TranscriptApp()
    async with app.run_test(size=(70, 15)) as pilot:
        await _show(pilot, _talk(60))
        screens = [app.screen_lines()]
        for _ in range(6):
            await pilot.press("pageup")
            screens.append(app.screen_lines())
        for screen in reversed(screens[1:-1]):
            await pilot.press("pagedown")
            assert app.screen_lines() == screen


async def test_the_wheel_and_the_scrollbar_reach_both_ends():
    app = TranscriptApp()
    async with app.run_test(size=(70, 15)) as pilot:
        transcript = await _show(pilot, _talk(300), focus=False)
        transcript.scroll_to(y=0, animate=False)
        await pilot.pause()
        assert transcript.scroll_offset.y == 0
        assert "question 0" in "\n".join(app.screen_lines())
        transcript.scroll_to(y=transcript.max_scroll_y, animate=False)
        await pilot.pause()
        assert transcript.follows
        assert "line 299" in "\n".join(app.screen_lines())
        transcript.scroll_to(y=transcript.max_scroll_y // 2, animate=False)
        await pilot.pause()
        assert not transcript.follows


async def test_ten_thousand_rows_open_without_being_drawn():
    app = TranscriptApp()
    async with app.run_test(size=(100, 30)) as pilot:
        transcript = await _show(pilot, _talk(10_000))
        drawn = [box for box in transcript._list.layout.boxes if box.pieces]
        assert len(drawn) < 40
        await pilot.press("pageup", "pageup", "home")
        assert "question 0" in app.screen_lines()[0]
        drawn = [box for box in transcript._list.layout.boxes if box.pieces]
        assert len(drawn) < 120


async def test_drawings_of_rows_not_seen_for_long_are_forgotten():
    app = TranscriptApp()
    async with app.run_test(size=(60, 20)) as pilot:
        transcript = await _show(pilot, _talk(3_000))
        for _ in range(250):
            transcript.action_page(-1)
        assert sum(bool(box.pieces) for box in transcript._list.layout.boxes) <= 400


async def test_another_conversation_shows_its_end_and_knows_no_opened_rows():
    app = TranscriptApp()
    async with app.run_test(size=(100, 20)) as pilot:
        one = [_row(0, UserRow("one", 0)), _row(1, _condense()), *_talk(40)[2:]]
        other = [_row(0, UserRow("other", 0)), _row(1, _condense()), *_talk(40, seed=9)[2:]]
        transcript = await _show(pilot, one)
        await pilot.press("home", "down", "enter")
        await pilot.pause()
        assert "Pending tasks" in "\n".join(app.screen_lines())
        transcript.set_rows(other)
        await pilot.pause()
        assert transcript.follows
        assert "line 39" in "\n".join(app.screen_lines())
        await pilot.press("home")
        assert "Pending tasks" not in "\n".join(app.screen_lines())


# streams


async def test_a_stream_follows_the_end_and_ends_as_the_same_row():
    app = TranscriptApp()
    text = "\n\n".join(f"## Part {at}\n\n" + "some words " * 30 + "\n\n```python\nx = 1\n```" for at in range(12))
    async with app.run_test(size=(80, 20)) as pilot:
        transcript = await _show(pilot, _talk(6), focus=False)
        transcript.stream_open("live:b1", AnswerRow("", open=True))
        for start in range(0, len(text), 97):
            transcript.stream_text("live:b1", text[start : start + 97])
            if start % 5 == 0:
                await pilot.pause()
        transcript.stream_close("live:b1")
        await pilot.pause()
        assert "x = 1" in app.screen_lines()[-1]
        before, strips = app.screen_lines(), list(transcript._screen_strips)
        transcript.rename("live:b1", "e90.0")
        transcript.upsert([_row(90, AnswerRow(text), key="e90.0")])
        await pilot.pause()
        assert app.screen_lines() == before
        assert all(new is old for new, old in zip(transcript._screen_strips, strips, strict=True))
        assert transcript.copy_text("e90.0") == text
        assert transcript.copy_text("live:b1") == ""


async def test_the_top_line_stays_while_a_stream_runs_and_rows_arrive():
    app = TranscriptApp()
    async with app.run_test(size=(80, 20)) as pilot:
        transcript = await _show(pilot, _talk(40))
        transcript.stream_open("live:1")
        transcript.stream_text("live:1", "first words\n\n")
        transcript._frame()
        await pilot.press("pageup", "pageup")
        before = app.screen_lines()
        assert not transcript.behind
        for at in range(60):
            transcript.stream_text("live:1", f"more words {at}\n\n- item\n")
            if at % 7 == 0:
                transcript._frame()
                assert app.screen_lines()[:-1] == before[:-1]
        transcript.stream_close("live:1")
        transcript.upsert([_row(100, UserRow("next", 0)), _row(101, AnswerRow("new\n\n" * 30))])
        await pilot.pause()
        assert app.screen_lines()[:-1] == before[:-1]
        assert transcript.behind
        assert "new below" in app.screen_lines()[-1]
        await pilot.press("end")
        assert not transcript.behind
        assert transcript.follows


async def test_reading_within_the_row_that_streams_stays_still():
    app = TranscriptApp()
    async with app.run_test(size=(80, 20)) as pilot:
        transcript = await _show(pilot, [])
        transcript.stream_text("live:1", "\n\n".join(f"paragraph {at}" for at in range(50)))
        transcript._frame()
        await pilot.press("pageup")
        before = app.screen_lines()
        transcript.stream_text("live:1", "\n\nmore\n\nand more")
        transcript._frame()
        transcript.stream_close("live:1")
        transcript.rename("live:1", "e1.0")
        transcript.upsert([_row(1, AnswerRow(transcript.copy_text("e1.0")), key="e1.0")])
        await pilot.pause()
        assert app.screen_lines()[:-1] == before[:-1]


async def test_heights_that_change_above_do_not_move_what_is_read():
    app = TranscriptApp()
    async with app.run_test(size=(80, 20)) as pilot:
        transcript = await _show(pilot, _talk(60))
        await pilot.press("pageup", "pageup")
        before = app.screen_lines()
        transcript.upsert([_row(3, AnswerRow("short")), _row(5, AnswerRow("long\n\n" * 40))])
        transcript.remove(["e7"])
        await pilot.pause()
        assert app.screen_lines() == before


async def test_thinking_is_one_line_that_shows_the_newest_words():
    app = TranscriptApp()
    async with app.run_test(size=(80, 20)) as pilot:
        transcript = await _show(pilot, [], focus=False)
        transcript.stream_open("live:t", ThinkingRow("", open=True))
        transcript.stream_text("live:t", "first thought\nsecond thought")
        transcript._frame()
        assert [line.split() for line in app.screen_lines()] == [["▸", "Thinking…", "second", "thought"]]
        transcript.toggle("live:t")
        await pilot.pause()
        assert "first thought" in "\n".join(app.screen_lines())
        transcript.stream_close("live:t")
        await pilot.pause()
        assert "Thought" in app.screen_lines()[0]


async def test_a_running_command_shows_its_last_lines_and_folds_when_done():
    app = TranscriptApp()
    async with app.run_test(size=(80, 20)) as pilot:
        call = ToolRow("a", "execute_command", "make test", "running", view=CommandView("make test"))
        transcript = await _show(pilot, [_row(1, call, key="call:a")])
        transcript.append_output("call:a", "".join(f"line {at}\n" for at in range(30)))
        transcript._frame()
        lines = app.screen_lines()
        assert [line.strip() for line in lines[1:]] == [f"line {at}" for at in range(24, 30)]
        done = ToolRow("a", "execute_command", "make test", "done", "exit 0", CommandView("make test", "all", 0))
        transcript.upsert([_row(2, done, key="call:a")])
        await pilot.pause()
        assert len(app.screen_lines()) == 1
        assert "exit 0" in app.screen_lines()[0]


async def test_the_status_is_the_last_row_and_its_timer_ends_with_it():
    app = TranscriptApp()
    async with app.run_test(size=(80, 20)) as pilot:
        transcript = await _show(pilot, _talk(3))
        transcript.set_status("Condensing context…", "Esc cancels")
        await pilot.pause()
        assert "Condensing context…" in app.screen_lines()[-1]
        assert "Esc cancels" in app.screen_lines()[-1]
        transcript.upsert([_row(50, UserRow("meanwhile", 0))])
        await pilot.pause()
        assert "Condensing context…" in app.screen_lines()[-1]
        transcript.set_status(None)
        await pilot.pause()
        assert "meanwhile" in app.screen_lines()[-1]
        assert transcript._status_timer is None


# what is not in context


async def test_rows_that_come_hidden_are_folded_into_one_line_that_opens():
    app = TranscriptApp()
    async with app.run_test(size=(90, 30)) as pilot:
        talk = _talk(8)
        hidden = [_row(row.entry_id, row.body, False) for row in talk]
        transcript = await _show(pilot, [*hidden, _row(20, _condense()), _row(21, UserRow("go on", 0))])
        lines = app.screen_lines()
        assert "8 earlier rows, not in context" in lines[0]
        assert "Context condensed   148,210 → 9,874 tokens   −93 %   $0.08   native, cached   u undo" in lines[1]
        await pilot.press("home", "enter")
        await pilot.pause()
        assert "question 0" in "\n".join(app.screen_lines())
        assert all(line.startswith("┊") or not line for line in app.screen_lines()[2:6])
        transcript.set_rows([*talk, _row(20, _condense(on=False)), _row(21, UserRow("go on", 0))])
        await pilot.press("home")
        assert "question 0" in app.screen_lines()[0]


@pytest.mark.line("A5")
async def test_rows_a_condense_hides_stay_dimmed_until_somebody_folds_them():
    app = TranscriptApp()
    async with app.run_test(size=(90, 30)) as pilot:
        talk = _talk(8)
        transcript = await _show(pilot, talk)
        before = app.screen_lines()
        hidden = [_row(row.entry_id, row.body, False) for row in talk]
        transcript.set_rows([*hidden, _row(20, _condense())])
        await pilot.pause()
        after = app.screen_lines()
        assert [line[1:] for line in before if line.strip()][-6:] == [line[1:] for line in after if line.strip()][-7:-1]
        assert "line 7.9" in "\n".join(after)
        hidden += [_row(20, _condense(), False), _row(21, UserRow("go on", 0), False)]
        transcript.set_rows([*hidden, _row(30, _condense())])
        await pilot.pause()
        assert "go on" in "\n".join(app.screen_lines())
        transcript.set_all(False)
        await pilot.pause()
        lines = [line for line in app.screen_lines() if line.strip()]
        assert len(lines) == 2 and "10 earlier rows, not in context" in lines[0]
        transcript.set_rows([*hidden, _row(30, _condense(), False), _row(31, _condense())])
        await pilot.pause()
        lines = [line for line in app.screen_lines() if line.strip()]
        assert len(lines) == 3 and "10 earlier rows" in lines[0] and "Context condensed" in lines[1]


async def test_what_is_being_read_is_not_folded_away():
    app = TranscriptApp()
    async with app.run_test(size=(80, 16)) as pilot:
        talk = _talk(40)
        transcript = await _show(pilot, talk)
        await pilot.press("pageup", "pageup")
        before = [line[GUTTER:] for line in app.screen_lines()]
        transcript.set_rows([*(_row(row.entry_id, row.body, False) for row in talk), _row(90, _condense())])
        await pilot.pause()
        assert [line[GUTTER:] for line in app.screen_lines()] == before


@pytest.mark.line("A5")
async def test_scroll_to_key_opens_what_the_row_is_folded_in():
    app = TranscriptApp()
    async with app.run_test(size=(80, 16)) as pilot:
        talk = [_row(row.entry_id, row.body, False) for row in _talk(30)]
        transcript = await _show(pilot, [*talk, _row(90, _condense())])
        transcript.scroll_to_key("e10")
        await pilot.pause()
        assert "question 10" in "\n".join(app.screen_lines())
        assert transcript.selected_key == "e10"


# sizes, themes, foreign text


async def test_twenty_sizes_keep_the_text_while_it_streams():
    app = TranscriptApp()
    chance = random.Random(3)
    async with app.run_test(size=(100, 30)) as pilot:
        transcript = await _show(pilot, _talk(30))
        words = _words(_whole_text(transcript))
        transcript.stream_open("live:1")
        for at in range(20):
            transcript.stream_text("live:1", f"piece{at} ")
            words += f"piece{at}"
            await pilot.resize_terminal(chance.randrange(30, 140), chance.randrange(8, 50))
            await pilot.pause()
            transcript._frame()
        assert _words(_whole_text(transcript)) == words
        assert transcript.follows


async def test_a_new_size_keeps_the_row_that_is_read_on_top():
    app = TranscriptApp()
    async with app.run_test(size=(100, 20)) as pilot:
        transcript = await _show(pilot, _talk(60))
        await pilot.press("pageup", "pageup", "pageup")
        top = transcript._places[0].box.key
        for width in (60, 120, 45, 100):
            await pilot.resize_terminal(width, 20)
            await pilot.pause()
            assert transcript._places[0].box.key == top


_VIEWS: list[ToolView] = [
    FileView("a.py", "{}\nx = 1", 1, 2),
    DiffView("a.py", "old {}", "new {}", added=1, removed=1),
    CommandView("echo {}", "out {}", 0),
    ListView("{}", ("item {}",), 5),
    TodoView((("todo {}", "pending"), ("done", "done"))),
    TextView("text {}"),
    TextView("**text** {}", markdown=True),
]
_EVIL = (
    "[bold red]x[/] [/nope] [@click=app.quit]y[/] \x1b[31mred\x1b]0;title\x07 \x9b2J \x00\x07\u202e日本\ud800\te\u0301"
)


def _with(view: ToolView, text: str) -> ToolView:
    match view:
        case TodoView():
            return TodoView(tuple((item.format(text), state) for item, state in view.items))
        case ListView():
            return ListView(view.title.format(text), tuple(item.format(text) for item in view.items), view.total)
        case DiffView():
            return DiffView(view.path, view.old.format(text), view.new.format(text), added=1, removed=1)
        case CommandView():
            return CommandView(view.command.format(text), view.output.format(text), 0)
        case FileView():
            return FileView(view.path, view.text.format(text), 1, 2)
        case TextView():
            return TextView(view.text.format(text), view.markdown)


_BODIES: list[RowBody] = [
    UserRow(_EVIL, 0, (_EVIL,)),
    UserRow(f"{_EVIL}\n{_EVIL}", 1),
    AnswerRow(f"{_EVIL}\n\n```{_EVIL}\n{_EVIL}\n```\n[{_EVIL}](http://{_EVIL})", interrupted=True),
    ThinkingRow(_EVIL),
    ReductionRow("condense", True, 10, 5, 0.1, _EVIL, _EVIL, 3, _EVIL, _EVIL, (_EVIL,), ((_EVIL, _EVIL),)),
    ReductionRow("truncation", False, 0, 5, None, _EVIL, _EVIL, 3, covered_by=4),
    ReductionRow("mask", True, 10, 5, None, _EVIL, _EVIL, 3),
    FailureRow(_EVIL, _EVIL, _EVIL),
    CheckpointRow(_EVIL, (_EVIL,)),
    *(ToolRow("a", _EVIL, _EVIL, "done", _EVIL, _with(view, _EVIL), "allowed", 2.0) for view in _VIEWS),
    *(ToolRow("a", "t", "x", state) for state in ("streaming", "waiting", "running", "failed", "denied", "lost")),
]


@pytest.mark.parametrize("size", [(80, 24), (130, 40), (20, 6)])
@pytest.mark.parametrize("in_context", [True, False])
async def test_markup_and_escape_codes_are_inert_in_every_row(size: tuple[int, int], in_context: bool):
    app = TranscriptApp()
    async with app.run_test(size=size) as pilot:
        transcript = await _show(pilot, [_row(at, body, in_context) for at, body in enumerate(_BODIES)])
        transcript.set_all(True)
        await pilot.pause()
        text = "\n".join(_whole_text(transcript))
        assert not {"\x1b", "\x9b", "\x00", "\x07", "\u202e", "\ud800", "\t"} & set(text)
        assert "title" not in text
        if size[0] > 100:
            assert "[@click=app.quit]y[/]" in text
        layout = transcript._list.layout
        start = layout.spot_at(0)
        assert start is not None
        for place in layout.down(start):
            assert place.strip.cell_length == layout.look.width + GUTTER
            assert not any(style and style.meta and "@click" in style.meta for _, style, _ in place.strip)
        transcript.set_all(False)
        await pilot.press("home")


async def test_a_line_of_five_megabytes_and_fifty_megabytes_of_output_are_shown_in_part():
    app = TranscriptApp()
    huge = CommandView("cat", "some output of a command\n" * 2_000_000, 0)
    async with app.run_test(size=(80, 24)) as pilot:
        transcript = await _show(
            pilot,
            [
                _row(1, ToolRow("a", "read_file", "x", "done", view=FileView("x.py", "y" * 5_000_000))),
                _row(2, AnswerRow("z" * 5_000_000)),
                _row(3, ToolRow("b", "execute_command", "cat", "done", view=huge)),
            ],
        )
        transcript.set_all(True)
        await pilot.press("home", "pagedown", "end")
        assert transcript.virtual_size.height < 60_000
        assert "some output" in "\n".join(app.screen_lines())


@pytest.mark.parametrize("theme", ["textual-dark", "textual-light", "ansi-dark", "ansi-light", "nord"])
async def test_every_theme_draws_its_own_colours(theme: str):
    app = TranscriptApp()
    async with app.run_test(size=(100, 30)) as pilot:
        transcript = await _show(pilot, [_row(at, body) for at, body in enumerate(_BODIES)])
        first = transcript._list.layout.look.palette
        app.theme = "gruvbox"
        await pilot.pause()
        app.theme = theme
        await pilot.pause()
        await pilot.pause()
        palette = transcript._list.layout.look.palette
        assert (palette == first) is (theme == "textual-dark")
        expected = None if theme.startswith("ansi") else transcript.background_colors[1].rich_color
        assert palette.background.bgcolor == expected
        assert transcript._screen_strips[0]._segments[0].style.bgcolor == expected


async def test_diffs_are_side_by_side_where_there_is_room():
    app = TranscriptApp()
    view = DiffView("a.py", "same\nold_name()\n", "same\nnew_name()\n", added=1, removed=1)
    async with app.run_test(size=(120, 30)) as pilot:
        await _show(pilot, [_row(1, ToolRow("a", "apply_diff", "a.py", "done", view=view))])
        assert any("old_name" in line and "new_name" in line for line in app.screen_lines())
        await pilot.resize_terminal(80, 30)
        await pilot.pause()
        lines = app.screen_lines()
        assert [line.split()[:2] for line in lines[1:]] == [["1", "same"], ["2", "-"], ["2", "+"]]


@pytest.mark.parametrize(
    ("old", "new", "shown"),
    [
        ("", "one\ntwo\n", [["1", "+", "one"], ["2", "+", "two"]]),
        ("one\n", "", [["1", "-", "one"]]),
        ("one\n\n", "one\n", [["1", "one"], ["2", "-"]]),
        ("one", "one\n", [["1", "one"], ["2", "+"]]),
    ],
)
async def test_a_final_line_end_opens_no_line(old: str, new: str, shown: list[list[str]]):
    app = TranscriptApp()
    async with app.run_test(size=(80, 30)) as pilot:
        await _show(pilot, [_row(1, ToolRow("a", "write_to_file", "a.py", "done", view=DiffView("a.py", old, new)))])
        assert [line.split() for line in app.screen_lines()[1:]] == shown


async def test_an_opened_failure_says_its_sentence_once():
    app = TranscriptApp()
    said = "The provider refused."
    async with app.run_test(size=(80, 20)) as pilot:
        failure = FailureRow("Condense failed", said, f"{said}\nHTTP status: 529")
        await _show(pilot, [_row(1, failure)])
        await pilot.press("end", "enter")
        shown = "\n".join(app.screen_lines())
        assert shown.count(said) == 1 and "HTTP status: 529" in shown


# selection


async def test_a_selection_gives_the_text_without_the_bar():
    app = TranscriptApp()
    async with app.run_test(size=(80, 20)) as pilot:
        transcript = await _show(pilot, [_row(1, UserRow("question", 0)), _row(2, AnswerRow("first\n\nsecond 日本 x"))])
        await pilot.mouse_down(TranscriptView, offset=(GUTTER, 2))
        await pilot.hover(TranscriptView, offset=(GUTTER + 6, 4))
        await pilot.mouse_up(TranscriptView, offset=(GUTTER + 6, 4))
        assert app.screen.get_selected_text() == "first\n\nsecond"
        selected = transcript._screen_strips[2]
        assert any(
            style and style.bgcolor == transcript._list.layout.look.palette.selection.bgcolor
            for _, style, _ in selected
        )
        assert app.said == []
        everything = transcript.get_selection(Selection(None, None))
        assert everything == ("question\n\nfirst\n\nsecond 日本 x", "\n")


async def test_a_selection_stays_on_its_words_when_more_arrives_above_and_below():
    app = TranscriptApp()
    async with app.run_test(size=(80, 20)) as pilot:
        transcript = await _show(pilot, _talk(30))
        places = transcript._places
        line = next(at for at, place in enumerate(places) if "line 29" in place.strip.text)
        numbers = transcript.render_line(line)._segments[0].style.meta["offset"][1]
        selection = Selection(Offset(0, numbers), Offset(7, numbers))
        transcript.upsert([_row(1, AnswerRow("taller\n\n" * 30)), _row(70, UserRow("later", 0))])
        await pilot.pause()
        assert transcript.get_selection(selection) == ("line 29", "\n")


# what is repainted


async def test_only_lines_that_differ_are_repainted():
    app = TranscriptApp()
    async with app.run_test(size=(80, 20)) as pilot:
        transcript = await _show(pilot, [_row(1, UserRow("question", 0))], focus=False)
        transcript.stream_open("live:1")
        transcript.stream_text("live:1", "first paragraph\n\nsecond")
        transcript._frame()
        await pilot.pause()
        painted: list[int] = []
        original = transcript.refresh

        def refresh(*regions, **options):
            painted.extend(y for region in regions for y in range(region.y, region.bottom))
            return original(*regions, **options)

        transcript.refresh = refresh  # type: ignore[method-assign]
        transcript.stream_text("live:1", " words")
        transcript._frame()
        assert painted == [4]
        painted.clear()
        transcript._flush()
        assert painted == []


async def test_a_stream_is_drawn_at_most_fifteen_times_a_second():
    app = TranscriptApp()
    async with app.run_test(size=(80, 20)) as pilot:
        transcript = await _show(pilot, [], focus=False)
        started = monotonic()
        frames = 0
        original = transcript._frame

        def frame() -> None:
            nonlocal frames
            frames += 1
            original()

        transcript._frame = frame  # type: ignore[method-assign]
        while monotonic() - started < 0.4:
            transcript.stream_text("live:1", "word ")
            await asyncio.sleep(0)
        assert 1 <= frames <= 15 * (monotonic() - started) + 1
