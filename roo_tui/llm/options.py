"""Profiles: which model answers, and how it is reached. Field metadata feeds validation and the settings screen."""

from dataclasses import dataclass, field
from typing import Literal


@dataclass(frozen=True, slots=True)
class Profile:
    """One model with its connection. Keys are never part of a profile. `name` is the profile's name in the settings."""

    name: str
    provider: str = field(
        default="anthropic",
        metadata={
            "title": "Provider",
            "sentence": "Whose interface the model speaks; demo is offline and scripted.",
            "choices": ("anthropic", "demo"),
        },
    )
    model: str = field(
        default="claude-sonnet-5-5",
        metadata={"title": "Model", "sentence": "The model's id, as its provider writes it.", "filled": True},
    )
    base_url: str = field(
        default="",
        metadata={
            "title": "Base URL",
            "sentence": "Where the provider is reached; blank means its own address.",
            "url": True,
        },
    )
    window: int = field(
        default=0,
        metadata={
            "title": "Context window",
            "sentence": "How much the model can read at once; 0 means what is known of the model.",
            "unit": "tokens",
            "range": (1_000, 100_000_000),
            "also": (0,),
        },
    )
    max_output: int = field(
        default=0,
        metadata={
            "title": "Longest answer",
            "sentence": "The most one answer may take; it is reserved in the window. 0 means the model's own.",
            "unit": "tokens",
            "range": (1, 10_000_000),
            "also": (0,),
        },
    )
    threshold_percent: int | Literal["auto"] = field(
        default=-1,
        metadata={
            "title": "Condense threshold",
            "sentence": "How full the window may get with this profile; -1 means the general threshold, auto "
            "adapts it.",
            "unit": "% of the context window",
            "range": (5, 100),
            "also": (-1, "auto"),
        },
    )
    thinking: Literal["off", "adaptive"] = field(
        default="off",
        metadata={"title": "Thinking", "sentence": "Whether the model may reason before it answers."},
    )
    temperature: float | None = field(
        default=None,
        metadata={
            "title": "Temperature",
            "sentence": "How freely the model chooses its words; unset means the provider's own.",
            "range": (0.0, 2.0),
        },
    )
