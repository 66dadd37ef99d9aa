"""Token usage as a provider reports it, and sums of costs."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Usage:
    """Tokens of one request, or of several together.

    `input_tokens` counts only tokens neither read from nor written to the prompt cache (Messages API).
    """

    input_tokens: int = 0
    cache_read_tokens: int = 0
    cache_write_tokens: int = 0
    output_tokens: int = 0

    @property
    def prompt_tokens(self) -> int:
        """Return all tokens that were sent, cached or not."""
        return self.input_tokens + self.cache_read_tokens + self.cache_write_tokens

    @property
    def context_tokens(self) -> int:
        """Return the tokens in the context window once the answer is part of it."""
        return self.prompt_tokens + self.output_tokens

    def __add__(self, other: "Usage") -> "Usage":
        return Usage(
            self.input_tokens + other.input_tokens,
            self.cache_read_tokens + other.cache_read_tokens,
            self.cache_write_tokens + other.cache_write_tokens,
            self.output_tokens + other.output_tokens,
        )


def add_costs(first: float | None, second: float | None) -> float | None:
    """Return the sum of two costs in US dollars. An unknown cost (None) counts as nothing beside a known one."""
    if first is None:
        return second
    return first if second is None else first + second
