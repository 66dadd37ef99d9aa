"""The rewind screen: choose a rewind point, preview the change, and rewind the conversation, the files or both."""

from collections.abc import Awaitable, Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import ClassVar

from textual import on, work
from textual.binding import Binding, BindingType
from textual.containers import Horizontal, Vertical, VerticalScroll
from textual.content import Content
from textual.widget import Widget
from textual.widgets import Button, OptionList, Static
from textual.widgets.option_list import Option

from roo_tui.domain.errors import RooError
from roo_tui.domain.ids import EntryId
from roo_tui.domain.views import FileChange, RewindPoint, RewindPreview
from roo_tui.plain_text import clean, one_line
from roo_tui.tui import strings
from roo_tui.tui.numbers import clock, counted
from roo_tui.tui.screens.page import Page

PreviewSource = Callable[[EntryId], Awaitable[RewindPreview]]


@dataclass(frozen=True, slots=True)
class RewindChoice:
    """What the user decided. `overwrite` was confirmed with the names of the files shown."""

    entry_id: EntryId
    conversation: bool
    files: bool
    overwrite: bool


class RewindScreen(Page[RewindChoice | None]):
    """Rewind points, newest first, with a preview of the highlighted one beside or below them."""

    TITLE_TEXT = strings.REWIND_TITLE
    KEYS_TEXT = strings.REWIND_KEYS
    HORIZONTAL_BREAKPOINTS = [(0, "-stacked"), (110, "-beside")]
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("b", "rewind('both')", strings.REWIND_BOTH, show=False),
        Binding("c", "rewind('conversation')", strings.REWIND_CONVERSATION, show=False),
        Binding("f", "rewind('files')", strings.REWIND_ONLY_FILES, show=False),
    ]

    def __init__(self, points: Sequence[RewindPoint], preview: PreviewSource) -> None:
        super().__init__()
        self._points = sorted(points, key=lambda point: point.entry_id, reverse=True)
        self._source = preview
        self._preview: RewindPreview | None = None

    def body(self) -> Iterable[Widget]:
        """Yield the points and the preview beside or below them."""
        if not self._points:
            yield Static(strings.REWIND_EMPTY, id="nothing", markup=False)
            return
        yield Vertical(
            OptionList(*(Option(_point_line(point)) for point in self._points), markup=False, id="points"),
            Vertical(
                VerticalScroll(Static(id="preview", markup=False), id="preview-scroll", can_focus=False),
                Horizontal(
                    _button("b", strings.REWIND_BOTH, "both", strings.REWIND_BOTH_TIP),
                    _button("c", strings.REWIND_CONVERSATION, "conversation", strings.REWIND_CONVERSATION_TIP),
                    _button("f", strings.REWIND_ONLY_FILES, "files", strings.REWIND_FILES_TIP),
                    id="rewind-buttons",
                ),
                id="rewind-side",
            ),
            id="rewind-body",
        )

    def on_mount(self) -> None:
        if self._points:
            self.query_one(OptionList).focus()

    @on(OptionList.OptionHighlighted)
    def _highlighted(self, event: OptionList.OptionHighlighted) -> None:
        self._load(self._points[event.option_index])

    @work(exclusive=True)
    async def _load(self, point: RewindPoint) -> None:
        self._preview = None
        try:
            preview = await self._source(point.entry_id)
        except RooError as error:
            self.query_one("#preview", Static).update(Content.styled(clean(str(error)), "$text-error"))
            return
        self._preview = preview
        self.query_one("#preview", Static).update(_preview_text(preview))
        for name in ("both", "files"):
            self.query_one(f"#{name}", Button).disabled = not _has_files(preview)

    @on(OptionList.OptionSelected)
    def _selected(self) -> None:
        self.action_rewind("both" if self._preview and _has_files(self._preview) else "conversation")

    @on(Button.Pressed)
    def _pressed(self, event: Button.Pressed) -> None:
        self.action_rewind(event.button.id or "")

    @work(exclusive=True, group="decide")
    async def action_rewind(self, how: str) -> None:
        """Dismiss with the choice; ask first where files that the user changed would be overwritten."""
        preview = self._preview
        if preview is None or (how in ("both", "files") and not _has_files(preview)):
            return
        files, overwrite = how != "conversation", False
        conflicts = [change for change in preview.files if change.conflict]
        if files and conflicts:
            overwrite = await self._asks_to_overwrite(conflicts)
            if not overwrite:
                return
        self.dismiss(RewindChoice(preview.point.entry_id, how != "files", files, overwrite))

    async def _asks_to_overwrite(self, conflicts: Sequence[FileChange]) -> bool:
        from roo_tui.tui.screens.small_dialogs import ConfirmScreen

        names = "\n".join(f"  {one_line(change.path)}" for change in conflicts[:8])
        if len(conflicts) > 8:
            names += f"\n  {strings.REWIND_MORE_CONFLICTS.format(count=len(conflicts) - 8)}"
        return await self.app.push_screen_wait(
            ConfirmScreen(
                strings.REWIND_CONFLICT_TITLE,
                strings.REWIND_CONFLICT_TEXT.format(names=names),
                yes=strings.REWIND_CONFLICT_YES,
                no=strings.REWIND_CONFLICT_NO,
            )
        )


def _button(key: str, label: str, name: str, tip: str) -> Button:
    button = Button(Content.assemble((f"{key} ", "bold"), label), id=name, compact=True)
    button.tooltip = tip
    return button


_KIND_STYLES = {
    "user": "bold $text-primary",
    "tool": "$foreground-muted",
    "condense": "$text-warning",
}


def _point_line(point: RewindPoint) -> Content:
    return Content.assemble(
        (f"{clock(point.at_ms)}  ", "$foreground-muted"),
        (f"{strings.REWIND_KIND[point.kind]:<9} ", _KIND_STYLES[point.kind]),
        one_line(point.title, 300),
    )


def _has_files(preview: RewindPreview) -> bool:
    return preview.files_possible and bool(preview.files)


def _preview_text(preview: RewindPreview) -> Content:
    lines = [Content.styled(one_line(preview.point.title, 400), "bold"), Content("")]
    messages = preview.messages
    removes = counted(strings.REWIND_MESSAGES, messages) if messages else strings.REWIND_NO_MESSAGES
    lines.append(Content(removes))
    if preview.point.words:
        lines.append(Content.styled(strings.REWIND_WORDS_BACK, "$foreground-muted"))
    if not preview.files_possible:
        lines.append(Content.styled(strings.REWIND_FILES_IMPOSSIBLE, "$text-warning"))
    elif not preview.files:
        lines.append(Content(strings.REWIND_NO_FILES))
    else:
        lines.append(Content(counted(strings.REWIND_FILES, len(preview.files))))
        lines += [_file_line(change) for change in preview.files]
    if preview.skipped:
        names = ", ".join(one_line(name) for name in preview.skipped)
        lines.append(Content.styled(strings.REWIND_SKIPPED.format(names=names), "$text-warning"))
    if preview.note:
        lines.append(Content.styled(clean(preview.note), "$foreground-muted"))
    return Content("\n").join(lines)


def _file_line(change: FileChange) -> Content:
    parts: list[Content | str | tuple[str, str]] = [
        "  ",
        one_line(change.path),
        (f"  {strings.FILE_ACTION[change.action]}", "$foreground-muted"),
    ]
    if change.added:
        parts.append((f"  +{change.added}", "$text-success"))
    if change.removed:
        parts.append((f"  −{change.removed}", "$text-error"))
    if change.conflict:
        parts.append((f"  {strings.REWIND_CONFLICT}", "$text-warning"))
    return Content.assemble(*parts)
