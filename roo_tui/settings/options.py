"""Settings of approvals, checkpoints and looks. Field metadata feeds validation, the settings screen and the docs."""

from dataclasses import dataclass, field
from typing import Literal

Policy = Literal["allow", "ask", "deny"]


@dataclass(frozen=True, slots=True)
class ApprovalOptions:
    """Which calls of the model run without a question, one policy for each class of effect."""

    read: Policy = field(
        default="allow",
        metadata={"title": "Reading", "sentence": "Reading, listing and searching files of the workspace."},
    )
    edit: Policy = field(default="ask", metadata={"title": "Editing", "sentence": "Changing files of the workspace."})
    command: Policy = field(default="ask", metadata={"title": "Commands", "sentence": "Running commands."})
    network: Policy = field(default="ask", metadata={"title": "Network", "sentence": "Reaching other machines."})
    allowed_commands: tuple[str, ...] = field(
        default=(),
        metadata={
            "title": "Allowed commands",
            "sentence": "Beginnings of commands that run without a question, for example “git status”.",
        },
    )


@dataclass(frozen=True, slots=True)
class CheckpointOptions:
    """Snapshots of the workspace's files."""

    enabled: bool = field(
        default=True,
        metadata={
            "title": "Checkpoints",
            "sentence": "Keep snapshots of the workspace's files so that a rewind can restore them.",
        },
    )


@dataclass(frozen=True, slots=True)
class HookOptions:
    """Commands run around a condense. Each gets a JSON object on its standard input."""

    before_condense: tuple[str, ...] = field(
        default=(),
        metadata={
            "title": "Before a condense",
            "sentence": "Commands that may stop a condense, or add instructions to it.",
        },
    )
    after_condense: tuple[str, ...] = field(
        default=(),
        metadata={"title": "After a condense", "sentence": "Commands that are told what came of it."},
    )


@dataclass(frozen=True, slots=True)
class AppearanceOptions:
    """How the screen looks and listens."""

    theme: str = field(
        default="",
        metadata={"title": "Theme", "sentence": "The name of a colour theme; blank means the built-in one."},
    )
    mouse: bool = field(
        default=True,
        metadata={
            "title": "Mouse",
            "sentence": "Use the mouse in the app; without it the terminal's own selection works.",
        },
    )
