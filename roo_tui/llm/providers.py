"""The table of providers: for each its adapter's module and the environment variables that concern it.

To add a provider, write its adapter and add a line here. An adapter's module has a function `build(info, *, key,
base_url)` that returns a `protocol.Model`; it is imported when a profile first uses it.
"""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Provider:
    """One provider. A blank variable means that it needs no key, or that its address cannot be set that way."""

    module: str
    key_variable: str = ""
    url_variable: str = ""


PROVIDERS = {
    "anthropic": Provider("roo_tui.llm.anthropic_model", "ANTHROPIC_API_KEY", "ANTHROPIC_BASE_URL"),
    "demo": Provider("roo_tui.llm.demo.model"),
}
