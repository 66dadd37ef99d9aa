"""The screens over the chat, by keyboard and by mouse, with a scripted engine."""

import pytest
from textual.widgets import TextArea
from textual.worker import WorkerFailed

from roo_tui.commands import notice_of
from roo_tui.domain.entries import TaskInfo
from roo_tui.domain.errors import CommandRefused, MissingKey, StoreError
from roo_tui.domain.previews import CondensePreview, Preset
from roo_tui.domain.views import (
    AnswerRow,
    ContextBreakdown,
    ContextUse,
    EntryShare,
    FileChange,
    FoundEntry,
    KindShare,
    RewindPoint,
    RewindPreview,
    Row,
)
from roo_tui.engine_api import EngineApi
from roo_tui.llm.options import Profile
from roo_tui.settings import Settings
from roo_tui.tui import strings
from roo_tui.tui.app import RooApp
from roo_tui.tui.screens.field_row import FieldRow
from roo_tui.tui.screens.settings import SettingsScreen
from tests.support.screen import Started, started
from tests.support.scripted_engine import T0, TASK, ScriptedEngine

POINTS = (
    RewindPoint(1, "user", "fix the [failing] test", T0, "tree1", "fix the [failing] test"),
    RewindPoint(4, "tool", "apply_diff src/dates.py", T0 + 60_000, "tree2"),
    RewindPoint(9, "condense", "Context condensed", T0 + 120_000),
)
MINE = FileChange("src/[mine].py", "restore", 3, 1, conflict=True)
THEIRS = FileChange("new.txt", "delete", 0, 9)


def engine_with_points(*files: FileChange, possible: bool = True) -> ScriptedEngine:
    engine = ScriptedEngine()
    engine.read.points = POINTS
    engine.read.previews = {
        point.entry_id: RewindPreview(point, 3, files, ("big.bin",), files_possible=possible) for point in POINTS
    }
    return engine


async def test_rewind_lists_points_newest_first_with_a_preview() -> None:
    async with started(engine_with_points(THEIRS)) as screen:
        await screen.press("ctrl+r")
        shown = screen.text()
        assert shown.index("Context condensed") < shown.index("apply_diff") < shown.index("fix the [failing] test")
        await screen.press("down", "down")
        assert "new.txt" in screen.text()
        assert "−9" in screen.text()
        assert strings.REWIND_SKIPPED.format(names="big.bin") in screen.text()


@pytest.mark.parametrize(
    ("key", "conversation", "files"), [("b", True, True), ("c", True, False), ("f", False, True), ("enter", True, True)]
)
async def test_rewind_goes_as_far_as_the_key_says(key: str, conversation: bool, files: bool) -> None:
    async with started(engine_with_points(THEIRS)) as screen:
        await screen.press("ctrl+r", "down", "down")
        await screen.press(key)
        assert screen.called("rewind") == [(1, conversation, files, False)]


async def test_rewind_to_a_message_puts_its_words_into_the_prompt() -> None:
    async with started(engine_with_points(THEIRS)) as screen:
        await screen.press("ctrl+r", "down", "down")
        await screen.press("c")
        assert screen.prompt == "fix the [failing] test"
        assert screen.app.focused is screen.chat.prompt.area


async def test_files_a_person_changed_are_overwritten_only_after_a_question() -> None:
    async with started(engine_with_points(MINE, THEIRS)) as screen:
        await screen.press("ctrl+r")
        await screen.press("b")
        assert "src/[mine].py" in screen.text()
        await screen.press("n")
        assert screen.called("rewind") == []
        await screen.press("b")
        await screen.press("y")
        assert screen.called("rewind") == [(9, True, True, True)]


async def test_without_snapshots_only_the_conversation_goes_back() -> None:
    async with started(engine_with_points(possible=False)) as screen:
        await screen.press("ctrl+r")
        assert strings.REWIND_FILES_IMPOSSIBLE in screen.text()
        await screen.press("b", "f")
        assert screen.called("rewind") == []
        await screen.press("enter")
        assert screen.called("rewind") == [(9, True, False, False)]


async def test_a_refused_rewind_says_why() -> None:
    engine = engine_with_points(THEIRS)
    engine.refuse["rewind"] = CommandRefused("The agent is working; press Escape first.")
    async with started(engine) as screen:
        await screen.press("ctrl+r")
        await screen.press("c")
        assert "press Escape first" in screen.notices()


async def test_escape_leaves_the_rewind_screen_and_nothing_happens() -> None:
    async with started(engine_with_points(THEIRS)) as screen:
        await screen.press("ctrl+r")
        await screen.press("escape")
        assert screen.called("rewind") == []
        assert screen.app.screen is screen.chat


async def test_rewind_of_an_empty_task_says_so() -> None:
    async with started() as screen:
        await screen.press("ctrl+r")
        assert strings.REWIND_EMPTY in screen.text()


def tasks(count: int) -> list[TaskInfo]:
    return [
        TaskInfo(f"id{n}", f"Task [number] {n}", "/srv/ada/app", T0, T0 - n * 3_600_000, n, n / 10)
        for n in range(1, count + 1)
    ]


async def test_the_list_of_tasks_is_searched_and_one_is_resumed() -> None:
    engine = ScriptedEngine()
    engine.read.all_tasks = tasks(30)
    async with started(engine) as screen:
        await screen.press("f3")
        assert "Task [number] 1 " in screen.text()
        await screen.type("number] 17")
        assert "Task [number] 17" in screen.text()
        assert "Task [number] 16" not in screen.text()
        await screen.press("enter")
        assert screen.called("open_task") == [("id17",)]


async def test_arrows_move_in_the_list_of_tasks_and_escape_clears_the_search_first() -> None:
    engine = ScriptedEngine()
    engine.read.all_tasks = tasks(5)
    async with started(engine) as screen:
        await screen.press("f3")
        await screen.type("zzz")
        assert strings.TASKS_NONE_FOUND in screen.text()
        await screen.press("escape", "down", "down", "enter")
        assert screen.called("open_task") == [("id3",)]


async def test_a_new_task_is_started_from_the_list_and_from_the_chat() -> None:
    async with started() as screen:
        screen.engine.calls.clear()
        await screen.press("ctrl+n")
        await screen.press("f3")
        await screen.press("ctrl+n")
        assert screen.called("new_task") == [(), ()]


async def test_the_profile_is_chosen_by_click_on_the_header_and_by_slash() -> None:
    engine = ScriptedEngine()
    engine.settings = Settings(
        profiles={"default": Profile("default"), "fast": Profile("fast", model="claude-haiku-5-5")}
    )
    async with started(engine) as screen:
        await screen.pilot.click("HeaderBar", offset=(12, 0))
        await screen.settle()
        assert "claude-haiku-5-5" in screen.text()
        await screen.type("fa")
        await screen.press("enter")
        await screen.type("/profile default")
        await screen.press("enter")
        assert screen.called("choose_profile") == [("fast",), ("default",)]


async def test_a_theme_is_chosen_shown_and_remembered() -> None:
    async with started() as screen:
        await screen.type("/theme")
        await screen.press("enter")
        await screen.type("nord")
        await screen.press("enter")
        assert screen.app.theme == "nord"
        assert screen.called("change_settings") == [({"appearance.theme": "nord"},)]


async def test_help_shows_the_keys_and_what_the_focused_part_does() -> None:
    async with started(size=(100, 80)) as screen:
        await screen.press("f1")
        shown = screen.text()
        for text in ("Enter sends", "Ctrl+T", "/condense", "In the transcript", "In the context screen", "Hide dup"):
            assert text in shown
        await screen.press("escape")
        assert screen.app.screen is screen.chat


async def test_the_palette_runs_commands() -> None:
    async with started() as screen:
        await screen.press("ctrl+p")
        await screen.type("truncate")
        await screen.until("Hide the oldest")
        await screen.press("down", "enter")
        await screen.settle()
        assert screen.called("truncate") == [()]


BREAKDOWN = ContextBreakdown(
    9_000,
    (KindShare("results of read_file", 6_000), KindShare("[summaries]", 3_000)),
    (EntryShare(3, "user", "a [summary]", 3_000), EntryShare(5, "assistant", "read_file", 6_000)),
)


def engine_with_context() -> ScriptedEngine:
    engine = ScriptedEngine()
    for number in (1, 3, 5):
        engine.append(Row(f"e{number}", number, AnswerRow(f"answer {number} " + "words " * 400)))
    engine.read.breakdown = BREAKDOWN
    return engine


async def test_the_context_screen_shows_bars_and_enter_goes_to_the_row() -> None:
    async with started(engine_with_context()) as screen:
        await screen.press("f5")
        shown = screen.text()
        assert "9,000 of 200,000 tokens, 4 %" in shown
        assert "6,000   67 %" in shown
        assert "[summaries]" in shown and "a [summary]" in shown
        await screen.press("up", "enter")
        assert screen.app.screen is screen.chat
        assert screen.chat.transcript.selected_key == "e3"
        assert "answer 3" in screen.text()


async def test_the_context_screen_of_an_empty_task_says_so() -> None:
    async with started() as screen:
        await screen.pilot.click("ContextMeter")
        await screen.settle()
        assert strings.CONTEXT_EMPTY in screen.text()
        await screen.press("escape")
        assert screen.app.screen is screen.chat


async def test_x_pins_the_entry_under_the_cursor_and_takes_its_pin_off() -> None:
    async with started(engine_with_context()) as screen:
        await screen.press("f5")
        assert "x pin" in screen.text() and strings.CONTEXT_PIN not in screen.text()
        await screen.press("up", "x")
        shown = screen.text()
        assert any("● e3" in line for line in shown.splitlines())
        assert strings.CONTEXT_PINNED.format(count=1) in shown
        await screen.press("x")
        assert strings.CONTEXT_PIN not in screen.text()
        assert screen.called("pin") == [(3, True), (3, False)]


async def test_a_pin_of_a_hidden_entry_is_listed_and_can_be_taken_off() -> None:
    engine = engine_with_context()
    engine.read.all_pinned = (1,)
    async with started(engine) as screen:
        await screen.press("f5")
        assert strings.CONTEXT_PINNED_HIDDEN in screen.text()
        await screen.press("home", "x")
        assert screen.called("pin") == [(1, False)]
        assert strings.CONTEXT_PIN not in screen.text()


async def test_a_pin_that_is_refused_says_why_and_marks_nothing() -> None:
    engine = engine_with_context()
    engine.refuse["pin"] = CommandRefused("e5 is [no] message.")
    async with started(engine) as screen:
        await screen.press("f5", "x")
        assert "e5 is [no] message." in screen.text()
        assert strings.CONTEXT_PIN not in screen.text()


async def test_m_masks_what_stands_twice_and_goes_back_to_the_chat() -> None:
    async with started(engine_with_context()) as screen:
        await screen.press("f5", "m")
        assert screen.called("condense") == [("", "lossless", "")]
        assert screen.app.screen is screen.chat


def compared(strategy: str, preset: Preset, after: int, survived: int, refusal: str = "") -> CondensePreview:
    return CondensePreview(
        strategy, preset, tokens_before=148_000, tokens_after=after, artefacts=7, survived=survived, refusal=refusal
    )


COMPARISONS = [
    compared("lossless", "", 148_000, 7, "Nothing stands [twice]."),
    compared("smart", "balanced", 61_230, 7),
    compared("native", "", 9_800, 6),
]


async def test_t_compares_the_strategies_and_enter_condenses_with_one() -> None:
    engine = engine_with_context()
    engine.comparisons = COMPARISONS
    engine.may_compare.clear()
    async with started(engine) as screen:
        await screen.press("f5", "t")
        assert strings.COMPARE_RUNNING in screen.text()
        engine.may_compare.set()
        await screen.until("smart balanced")
        assert screen.called("compare_strategies") == [(TASK,)]
        shown = " ".join(screen.text().split())
        assert "148,000 tokens now, 7 facts to keep" in shown
        assert "61,230 59 % 7/7" in shown and "9,800 93 % 6/7" in shown
        assert "Nothing stands [twice]." in shown and strings.COMPARE_NO_MODEL in shown
        await screen.press("down", "enter")
        assert screen.called("condense") == [("", "smart", "balanced")]
        assert screen.app.screen is screen.chat


async def test_escape_leaves_the_comparing_before_and_after_it_is_done() -> None:
    engine = engine_with_context()
    engine.comparisons = COMPARISONS
    engine.may_compare.clear()
    async with started(engine) as screen:
        await screen.press("f5", "t", "escape")
        assert "9,000 of 200,000 tokens" in screen.text()
        engine.may_compare.set()
        await screen.press("t")
        await screen.until("smart balanced")
        await screen.press("escape")
        assert "9,000 of 200,000 tokens" in screen.text()
        await screen.press("escape")
        assert screen.app.screen is screen.chat
        assert screen.called("condense") == []


async def test_a_comparison_that_is_refused_says_why() -> None:
    engine = engine_with_context()
    engine.refuse["compare_strategies"] = CommandRefused("The task holds no [messages].")
    async with started(engine) as screen:
        await screen.press("f5", "t")
        assert "The task holds no [messages]." in screen.text()
        assert strings.COMPARE_RUNNING not in screen.text()


async def test_a_condense_is_previewed_before_it_runs() -> None:
    engine = engine_with_context()
    fresh = CondensePreview("native", shape="fresh", tokens_before=148_000, tokens_after=9_800, cost_usd=0.5)
    engine.preview = CondensePreview(
        "native", "", "cached", 148_000, 9_800, cost_usd=0.08, saving_per_turn_usd=0.1, turns_to_pay_back=0.8,
        model_calls=1, remarks=("asks [once]",), alternatives=(fresh,),
    )  # fmt: skip
    async with started(engine) as screen:
        await screen.press("f5", "p")
        shown = screen.text()
        assert "148,000 → about 9,800 tokens, −93 %" in shown
        assert "costs $0.08 · saves $0.10 a turn · paid back after 1 turn" in shown
        assert "native, cached" in shown and "native, fresh" in shown and "asks [once]" in shown
        await screen.press("escape")
        assert screen.called("condense") == []
        await screen.type("/condense? keep the names")
        await screen.press("enter")
        await screen.press("enter")
        assert screen.called("condense") == [("keep the names",)]


async def test_find_shows_where_hits_are_and_enter_goes_to_those_on_the_path() -> None:
    engine = engine_with_context()
    engine.read.found = (
        FoundEntry(TASK, 3, "the [agent]", "answer 3 words"),
        FoundEntry(TASK, 5, "the agent", "answer 5 words", in_context=False),
        FoundEntry(TASK, 8, "the person", "words of another branch", on_path=False, in_context=False),
    )
    async with started(engine) as screen:
        await screen.type("/find words")
        await screen.press("enter")
        shown = screen.text()
        assert "the [agent]" in shown
        assert all(where in shown for where in ("in context", "hidden", "other branch"))
        await screen.press("down", "enter")
        assert screen.chat.transcript.selected_key == "e5"
        await screen.press("ctrl+f")
        await screen.type("branch")
        await screen.press("enter")
        assert strings.FIND_OTHER_BRANCH in screen.notices()
        await screen.press("ctrl+f")
        await screen.type("nowhere")
        assert strings.FIND_NOTHING in screen.text()


async def click_in_form(screen: Started, selector: str) -> None:
    screen.app.screen.query_one(selector).scroll_visible(animate=False)
    await screen.settle()
    await screen.pilot.click(selector)
    await screen.settle()


async def test_a_profile_is_copied_edited_and_deleted() -> None:
    engine = ScriptedEngine()
    engine.settings = Settings(profiles={"default": Profile("default", model="claude-haiku-5-5", window=9_000)})
    async with started(engine, size=(100, 50)) as screen:
        await open_settings(screen)
        await click_in_form(screen, "#profile-copy")
        await screen.type("not a name!")
        await screen.press("enter")
        assert strings.PROFILE_NAME_INVALID in screen.text()
        await screen.press("ctrl+u")
        await screen.type("fast")
        await screen.press("enter")
        changed = {
            "profiles.fast.provider": "anthropic",
            "profiles.fast.model": "claude-haiku-5-5",
            "profiles.fast.window": 9_000,
            "profile": "fast",
        }
        assert screen.called("change_settings") == [(changed,)]
        assert strings.PROFILE_MADE.format(name="fast") in screen.text()
        await focus(screen, "profiles.fast.model", "Input")
        await screen.press("end")
        await screen.type("-x")
        await click_in_form(screen, "#profile-delete")
        assert strings.PROFILE_DELETE_TITLE.format(name="fast") in screen.text()
        await screen.press("y")
        assert screen.called("change_settings")[1:] == [({"profiles.fast": None, "profile": "default"},)]
        await screen.press("escape")
        assert screen.app.screen is screen.chat


async def test_the_settings_of_the_profile_that_is_chosen_are_shown() -> None:
    engine = ScriptedEngine()
    engine.settings = Settings(profiles={"default": Profile("default"), "fast": Profile("fast", model="[quick]")})
    async with started(engine, size=(100, 60)) as screen:
        await open_settings(screen)
        await focus(screen, "profile", "Select")
        await screen.press("enter", "down", "enter")
        await screen.settle()
        assert "[quick]" in screen.text()
        await screen.press("ctrl+s")
        assert screen.called("change_settings") == [({"profile": "fast"},)]


async def open_settings(screen: Started) -> SettingsScreen:
    await screen.press("f2")
    assert isinstance(screen.app.screen, SettingsScreen)
    return screen.app.screen


async def focus(screen: Started, key: str, kind: str) -> None:
    rows = [row for row in screen.app.screen.query("FieldRow") if getattr(row, "key", "") == key]
    rows[0].query_one(kind).focus()
    await screen.settle()


async def test_settings_switch_threshold_and_prompt_are_saved_together() -> None:
    async with started() as screen:
        await open_settings(screen)
        await screen.press("space")  # the automatic switch has the focus
        await screen.press("tab", "ctrl+u")
        await screen.type("80")
        assert "80 % of 200,000 is 160,000 tokens; a condense is due at 160,000." in screen.text()
        await focus(screen, "context.condense_prompt", "TextArea")
        await screen.press("f7", "delete")
        await screen.type("Keep [paths].")
        assert screen.called("change_settings") == []
        await screen.press("ctrl+s")
        assert screen.called("change_settings") == [
            (
                {
                    "context.auto_condense": False,
                    "context.threshold_percent": 80,
                    "context.condense_prompt": "Keep [paths].",
                },
            )
        ]
        assert notice_of("settings") in screen.notices()


async def test_the_condense_prompt_shows_the_default_and_reset_brings_it_back() -> None:
    engine = ScriptedEngine()
    engine.settings = Settings(context=type(Settings().context)(condense_prompt="Mine."))
    async with started(engine, size=(100, 60)) as screen:
        settings = await open_settings(screen)
        assert "Mine." in screen.text()
        await screen.pilot.click(".reset")
        await screen.settle()
        assert "<analysis>" in screen.text(settings)
        await screen.press("ctrl+s")
        assert screen.called("change_settings") == [({"context.condense_prompt": ""},)]


async def test_an_untouched_default_prompt_is_not_saved_as_an_own_one() -> None:
    async with started() as screen:
        await open_settings(screen)
        await screen.press("ctrl+s")
        assert screen.called("change_settings") == []
        assert screen.app.screen is screen.chat


async def test_an_invalid_value_is_named_and_not_saved() -> None:
    async with started() as screen:
        await open_settings(screen)
        await screen.press("tab", "ctrl+u")
        await screen.type("300")
        assert "must be a whole number from 5 to 100" in screen.text()
        await screen.press("ctrl+s")
        assert screen.called("change_settings") == []
        assert isinstance(screen.app.screen, SettingsScreen)


async def test_passes_that_are_not_valid_are_named_and_not_saved() -> None:
    async with started(size=(120, 60)) as screen:
        await open_settings(screen)
        await focus(screen, "context.smart_config", "TextArea")
        await screen.type('{"passes": [{"id": "a", "mode": "both"}]}')
        await screen.press("pagedown")
        assert "passes[0].mode" in screen.text()
        await screen.press("tab", "ctrl+s")
        assert screen.called("change_settings") == []
        assert isinstance(screen.app.focused, TextArea)
        await screen.press("f7", "delete")
        await screen.type('{"passes": []}')
        await screen.press("ctrl+s")
        assert screen.called("change_settings") == [({"context.smart_config": '{\n  "passes": []\n}'},)]


async def test_only_a_prompt_can_be_reset_to_a_built_in_one() -> None:
    async with started() as screen:
        await open_settings(screen)
        with_reset = [row.key for row in screen.app.screen.query(FieldRow) if row.query(".reset")]
        assert with_reset == ["context.condense_prompt"]


async def test_escape_asks_before_changes_are_lost() -> None:
    async with started() as screen:
        await open_settings(screen)
        await screen.press("space", "escape")
        assert strings.SETTINGS_DISCARD_TEXT[0].format(count=1) in screen.text()
        await screen.press("n")
        assert isinstance(screen.app.screen, SettingsScreen)
        await screen.press("escape")
        await screen.press("y")
        assert screen.app.screen is screen.chat
        assert screen.called("change_settings") == []


async def test_settings_show_where_a_value_comes_from_and_what_is_wrong_in_the_file() -> None:
    engine = ScriptedEngine()
    engine.settings = Settings(
        source={"context.threshold_percent": "project file"}, problems=("settings.toml: [x] is not known",)
    )
    async with started(engine, size=(100, 50)) as screen:
        await open_settings(screen)
        assert "from: project file" in screen.text()
        assert "settings.toml: [x] is not known" in screen.text()


async def test_settings_explain_the_threshold_without_a_known_window() -> None:
    engine = ScriptedEngine()
    engine.read.the_use = ContextUse()
    async with started(engine) as screen:
        await open_settings(screen)
        assert "How full the context window may get" in screen.text()


async def test_no_key_at_the_start_offers_the_demo_and_starts_it() -> None:
    engine = ScriptedEngine()

    def build(demo: bool) -> EngineApi:
        if not demo:
            raise MissingKey("")
        return engine

    app = RooApp(build)
    async with app.run_test(size=(80, 24)) as pilot:
        screen = Started(app, engine, pilot)
        await screen.until(strings.NO_KEY_TITLE)
        await screen.press("enter")
        await screen.until("claude-sonnet-5-5")
        assert screen.called("new_task") == [()]
        await screen.type("hello")
        await screen.press("enter")
        assert screen.called("submit") == [("hello",)]


async def test_no_key_and_quit_leaves_at_once() -> None:
    def build(demo: bool) -> EngineApi:
        raise MissingKey("")

    app = RooApp(build)
    async with app.run_test(size=(80, 24)) as pilot:
        screen = Started(app, ScriptedEngine(), pilot)
        await screen.until(strings.NO_KEY_TITLE)
        await screen.press("q")
    assert app.return_value == 0


async def test_words_typed_before_the_engine_is_ready_are_sent_when_it_is() -> None:
    import asyncio
    import threading

    engine, ready = ScriptedEngine(), threading.Event()

    def build(demo: bool) -> EngineApi:
        assert ready.wait(10)
        return engine

    app = RooApp(build)
    async with app.run_test(size=(80, 24)) as pilot:
        screen = Started(app, engine, pilot)
        await screen.type("early bird")
        await screen.press("enter")
        assert strings.NOT_READY[:20] in screen.text()
        ready.set()
        async with asyncio.timeout(5):
            while not screen.called("submit"):
                await pilot.pause()
        assert screen.called("submit") == [("early bird",)]


async def test_an_engine_that_cannot_start_ends_with_a_sentence() -> None:
    def build(demo: bool) -> EngineApi:
        raise StoreError("The database was written by a newer version.")

    app = RooApp(build)
    async with app.run_test() as pilot:
        for _ in range(20):
            await pilot.pause()
    assert app.return_code == 1


async def test_an_unexpected_error_goes_to_the_log_and_names_the_file(capsys: pytest.CaptureFixture[str]) -> None:
    from roo_tui import logs, paths

    logs.set_up()
    engine = ScriptedEngine()
    engine.refuse["condense"] = ZeroDivisionError("oops")
    with pytest.raises(WorkerFailed):
        async with started(engine) as screen:
            await screen.press("ctrl+t")
    shown = "".join(capsys.readouterr())
    assert str(paths.log_file()) in shown.replace("\n", "")
    assert "Traceback" not in shown
    assert "ZeroDivisionError" in paths.log_file().read_text()
