"""The real engine is what its front ends are told it is; the type checker says so too, where the app makes one."""

import inspect

import pytest

from roo_tui.engine import Engine
from roo_tui.engine.reader import Reader
from roo_tui.engine_api import EngineApi, EngineReader


def members(protocol: type) -> dict[str, object]:
    return {name: member for name, member in vars(protocol).items() if not name.startswith("_")}


@pytest.mark.parametrize(("protocol", "real"), [(EngineApi, Engine), (EngineReader, Reader)])
def test_every_command_takes_what_front_ends_pass(protocol: type, real: type) -> None:
    named = members(protocol)
    assert len(named) > 15
    for name, member in named.items():
        if name == "read":
            continue  # set when an engine is made
        own = getattr(real, name)
        assert isinstance(own, property) == isinstance(member, property), name
        if not isinstance(member, property):
            wanted, offered = inspect.signature(member).parameters, inspect.signature(own).parameters  # type: ignore[arg-type]
            assert [(one.name, one.kind) for one in wanted.values()] == [
                (one.name, one.kind) for one in offered.values()
            ], name
            assert inspect.iscoroutinefunction(own) == inspect.iscoroutinefunction(member), name
