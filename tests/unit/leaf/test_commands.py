import re
from itertools import chain, combinations

from roo_tui.commands import COMMANDS, by_slash

# What a terminal or the prompt's own editing takes away. Not among them: Ctrl+Z, which suspends here as everywhere,
# Ctrl+F, which finds, and Ctrl+D, which leaves from an empty prompt.
LOST_IN_TERMINALS = {"ctrl+i", "ctrl+m", "ctrl+h", "ctrl+j", "ctrl+s", "ctrl+[", "f10", "f11", "f12"}
EDITING = {"ctrl+a", "ctrl+e", "ctrl+w", "ctrl+u", "ctrl+k", "ctrl+v", "ctrl+x", "ctrl+y"}


def test_no_two_commands_share_a_key_in_one_context() -> None:
    for one, other in combinations(COMMANDS, 2):
        if one.context == other.context or "app" in (one.context, other.context):
            assert not set(one.keys) & set(other.keys), f"{one.id} and {other.id}"


def test_ids_and_slash_names_are_unique() -> None:
    slashes = [entry.slash for entry in COMMANDS if entry.slash]
    assert len({entry.id for entry in COMMANDS}) == len(COMMANDS)
    assert len(set(slashes)) == len(slashes)


def test_keys_survive_terminals_and_leave_editing_alone() -> None:
    keys = set(chain.from_iterable(entry.keys for entry in COMMANDS))
    assert not keys & (LOST_IN_TERMINALS | EDITING)


def test_keys_that_work_everywhere_are_no_letters() -> None:
    for entry in COMMANDS:
        if entry.context == "app":
            assert all("+" in key or key == "escape" or re.fullmatch(r"f\d+", key) for key in entry.keys)


def test_every_command_can_be_reached_and_explains_itself() -> None:
    for entry in COMMANDS:
        assert entry.keys or entry.slash
        assert entry.title
        assert entry.help
        assert not entry.help.endswith(".")
        assert not entry.notice or entry.notice.endswith(".")


def test_condense_is_where_people_look_for_it() -> None:
    entry = by_slash("condense")
    assert entry is not None
    assert (entry.id, entry.footer, entry.keys) == ("condense", "Condense", ("ctrl+t",))
    assert by_slash("") is None
    assert by_slash("compact") is None
