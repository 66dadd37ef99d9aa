"""Every test runs in a home of its own, without keys, and without any network but loopback."""

import ipaddress
import os
import socket
from typing import Any

import pytest
from hypothesis import HealthCheck, settings

settings.register_profile(
    "steady", deadline=None, database=None, derandomize=True, suppress_health_check=[HealthCheck.too_slow]
)
settings.load_profile("steady")

_FOREIGN_PREFIXES = ("ANTHROPIC_", "OPENAI_", "ROO_TUI_", "GIT_")
_connect, _connect_ex, _getaddrinfo = socket.socket.connect, socket.socket.connect_ex, socket.getaddrinfo


def pytest_xdist_auto_num_workers() -> int:
    """Return how many processes `-n auto` starts: most tests wait more than they compute."""
    cores = os.cpu_count() or 1
    return max(cores, min(2 * cores, 8))


@pytest.fixture(autouse=True)
def home(monkeypatch: pytest.MonkeyPatch, tmp_path_factory: pytest.TempPathFactory) -> str:
    """The folder that holds everything the program writes in this test."""
    for name in list(os.environ):
        if name.startswith(_FOREIGN_PREFIXES):
            monkeypatch.delenv(name)
    folder = str(tmp_path_factory.mktemp("home"))
    monkeypatch.setenv("ROO_TUI_HOME", folder)
    monkeypatch.setenv("HOME", folder)
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", os.devnull)
    monkeypatch.setenv("GIT_CONFIG_NOSYSTEM", "1")
    return folder


@pytest.fixture(autouse=True, scope="session")
def only_loopback() -> Any:
    """Refuse every connection that would leave this machine, and every look-up of a name."""
    patch = pytest.MonkeyPatch()
    patch.setattr(socket.socket, "connect", _guarded(_connect))
    patch.setattr(socket.socket, "connect_ex", _guarded(_connect_ex))
    patch.setattr(socket, "getaddrinfo", _local_names_only)
    yield
    patch.undo()


def _guarded(connect: Any) -> Any:
    def guarded(self: socket.socket, address: Any) -> Any:
        if self.family in (socket.AF_INET, socket.AF_INET6) and not _is_loopback(address[0]):
            raise OSError(f"a test may not connect to {address[0]}")
        return connect(self, address)

    return guarded


def _local_names_only(host: Any, *arguments: Any, **options: Any) -> Any:
    name = host.decode() if isinstance(host, bytes) else host
    if name and not _is_loopback(name):
        raise socket.gaierror(f"a test may not look up {name}")
    return _getaddrinfo(host, *arguments, **options)


def _is_loopback(host: str) -> bool:
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host.partition("%")[0]).is_loopback
    except ValueError:
        return False
