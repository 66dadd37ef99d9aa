import pytest

from roo_tui.context.window.tokens import TokenCounter


@pytest.fixture(scope="session")
def counter() -> TokenCounter:
    return TokenCounter()
