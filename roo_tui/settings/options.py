"""Settings of approvals, checkpoints, hooks and the screen."""

from dataclasses import dataclass
from typing import Literal

from roo_tui.setting_field import setting

Policy = Literal["allow", "ask", "deny"]


@dataclass(frozen=True, slots=True)
class ApprovalOptions:
    """Which of the model's calls run without a question, one policy for each class of effect."""

    read: Policy = setting(
        "allow",
        title="Reading",
        sentence="Reading, listing and searching files of the workspace.",
    )
    edit: Policy = setting("ask", title="Editing", sentence="Changing files of the workspace.")
    command: Policy = setting("ask", title="Commands", sentence="Running commands.")
    allowed_commands: tuple[str, ...] = setting(
        (),
        title="Allowed commands",
        sentence="Commands that run without a question, by how they begin, for example “git status”.",
    )


@dataclass(frozen=True, slots=True)
class CheckpointOptions:
    """Checkpoints of the workspace's files."""

    enabled: bool = setting(
        True,
        title="Checkpoints",
        sentence="Save the workspace's files as you go, so that a rewind can restore them.",
    )


@dataclass(frozen=True, slots=True)
class HookOptions:
    """Commands run around a condense. Each gets a JSON object on its standard input."""

    before_condense: tuple[str, ...] = setting(
        (),
        title="Before a condense",
        sentence="Commands that can stop a condense or add instructions to it.",
    )
    after_condense: tuple[str, ...] = setting(
        (),
        title="After a condense",
        sentence="Commands that receive the result of a condense.",
    )


@dataclass(frozen=True, slots=True)
class AppearanceOptions:
    """How the screen looks and listens."""

    theme: str = setting(
        "",
        title="Theme",
        sentence="The name of a colour theme; blank uses the built-in one.",
    )
    mouse: bool = setting(
        True,
        title="Mouse",
        sentence="Use the mouse in the app; when off, the terminal's own text selection works.",
    )
