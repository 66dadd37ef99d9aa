"""The table of commands and the screen agree."""

from roo_tui.commands import COMMANDS
from roo_tui.tui.bindings import bindings_of, footer_keys, key_name, slash_suggestions
from roo_tui.tui.screens.chat.commands import HANDLERS
from roo_tui.tui.widgets.prompt import PromptArea
from roo_tui.tui.widgets.transcript import TranscriptView


def test_every_command_of_the_app_has_a_handler() -> None:
    assert set(HANDLERS) == {command.id for command in COMMANDS if command.context == "app"}


def test_every_key_of_the_table_is_bound_to_its_command() -> None:
    bound = {binding.key: binding.action for binding in bindings_of("app")}
    for command in COMMANDS:
        if command.context == "app" and command.keys:
            assert bound[",".join(command.keys)] == f"run_command('{command.id}')"


def test_no_key_that_works_while_typing_is_taken_by_the_prompt() -> None:
    taken = {key for binding in PromptArea.BINDINGS for key in binding.key.split(",")} | {"enter", "ctrl+j"}
    keys = {key for one in COMMANDS if one.context == "app" for key in one.keys}
    # Copying is the prompt's first where something is selected in it; suspending it hands on.
    assert keys & taken <= {"ctrl+c", "ctrl+z"}


def test_footer_names_the_condense_key_first() -> None:
    assert (footer_keys()[0].key, footer_keys()[0].label) == ("Ctrl+T", "Condense")


def test_keys_are_written_alike() -> None:
    keys = ["ctrl+t", "escape", "f1", "enter", "shift+tab", "pageup", "u"]
    assert [key_name(key) for key in keys] == ["Ctrl+T", "Esc", "F1", "Enter", "Shift+Tab", "PgUp", "u"]


def test_slash_words_are_those_of_the_table_and_the_projects_own() -> None:
    labels = [one.label for one in slash_suggestions([("review", "Review it"), ("undo", "not the project's")])]
    assert labels.count("/undo") == 1
    assert "/review" in labels
    assert {f"/{one.slash}" for one in COMMANDS if one.slash} <= set(labels)


def test_keys_the_table_gives_the_transcript_are_those_it_has() -> None:
    bound = {key for binding in TranscriptView.BINDINGS for key in binding.key.split(",")}
    for command in COMMANDS:
        if command.context == "transcript":
            assert set(command.keys) <= bound, command.id
