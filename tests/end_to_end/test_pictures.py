"""Pictures in a conversation with a server that accepts no more of them than the Messages API does."""

import base64
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from roo_tui import settings
from roo_tui.domain.events import TurnEnded
from roo_tui.domain.markers import Mask
from roo_tui.domain.views import ReductionRow
from roo_tui.engine import Engine
from tests.support.engines import Recorder, allow_all, bodies, path_of, without_waits
from tests.support.messages_server import Answer, MessagesServer, SeenRequest, answer, text, tool_call
from tests.support.pictures import damaged, noise, picture
from tests.support.scripted_model import SUMMARY

BROWSER_TEST = {
    "long page.png": picture(1440, 8570),
    "4k.png": picture(3840, 2160),
    "4k noise.png": noise(1600, 1000),
    "photo.jpg": noise(3000, 2000, "JPEG", quality=95),
    "spinner.gif": picture(300, 200, "GIF", frames=4),
    "steps.webp": picture(800, 600, "WEBP", frames=3),
    "page.webp": picture(1280, 9000, "WEBP"),
    "broken.png": damaged(picture(1280, 720)),
    "broken.webp": damaged(noise(200, 200, "WEBP")),
    "small.png": picture(40, 30),
}


@asynccontextmanager
async def session(folder: Path) -> AsyncIterator[tuple[Engine, Recorder, MessagesServer]]:
    """A new task of the real engine; the model reads the file that a message names."""
    async with MessagesServer(otherwise=_reads_what_is_named) as server:
        with pytest.MonkeyPatch.context() as patch:
            patch.setenv("ANTHROPIC_BASE_URL", server.url)
            patch.setenv("ANTHROPIC_API_KEY", "sk-test")
            without_waits(patch)
            engine = Engine(folder, settings.load(workspace=folder))
            await engine.start()
            try:
                recorder = Recorder(engine, allow_all)
                await engine.new_task()
                yield engine, recorder, server
            finally:
                await engine.close()


def _reads_what_is_named(request: SeenRequest) -> Answer:
    content = request.body["messages"][-1]["content"]
    words = next((block["text"] for block in content if block.get("text", "").startswith("read ")), "")
    if not words:
        return answer(text("Seen."))
    return answer(
        tool_call("read_file", {"path": words.removeprefix("read ")}, f"toolu_{len(request.body['messages'])}")
    )


def imported(folder: Path, *pictures: tuple[str, bytes]) -> Path:
    """Return a file of messages with a message for each picture, as another program wrote it."""
    messages: list[dict[str, Any]] = []
    for media_type, data in pictures:
        source = {"type": "base64", "media_type": media_type, "data": base64.b64encode(data).decode()}
        messages.append(
            {"role": "user", "content": [{"type": "text", "text": "Look."}, {"type": "image", "source": source}]}
        )
        messages.append({"role": "assistant", "content": "Seen."})
    file = folder / "messages.json"
    file.write_text(json.dumps(messages))
    return file


async def test_ten_pictures_of_a_browser_test_fail_no_turn(tmp_path: Path) -> None:
    for name, data in BROWSER_TEST.items():
        (tmp_path / name).write_bytes(data)
    async with session(tmp_path) as (engine, recorder, server):
        for name in BROWSER_TEST:
            assert (await recorder.turn(f"read {name}")).reason == "completed"
        assert (await recorder.turn("and now?")).reason == "completed"
        assert server.refused == [] and bodies(engine, Mask) == []
        sent = str(server.requests[-1].body)
        assert sent.count("'type': 'image'") == len(BROWSER_TEST) - 2
        assert sent.count("damaged or incomplete") == 2


async def test_twenty_one_pictures_with_a_larger_one_fail_no_turn(tmp_path: Path) -> None:
    (tmp_path / "large.png").write_bytes(picture(2560, 1440))
    (tmp_path / "small.png").write_bytes(picture(40, 30))
    async with session(tmp_path) as (_, recorder, server):
        for name in ["large.png", *["small.png"] * 20]:
            assert (await recorder.turn(f"read {name}")).reason == "completed"
        assert server.refused == []


@pytest.mark.parametrize(
    ("pictures", "left"),
    [
        ([("image/png", picture(40, 30)), ("image/png", picture(1440, 8570))], 1),
        ([("image/png", noise(1300, 1100)), ("image/png", picture(40, 30))], 1),
        ([("image/png", damaged(picture(400, 300))), ("image/png", picture(40, 30))], 1),
        ([("image/jpeg", picture(400, 300)), ("image/png", picture(40, 30))], 1),
        (
            [("image/png", picture(40, 30))] * 15
            + [("image/png", picture(2560, 40))]
            + [("image/png", picture(40, 30))] * 5,
            20,
        ),
        ([("image/png", noise(1120, 1120))] * 8, 4),
    ],
    ids=["long page", "over 5 MB", "damaged", "another type than declared", "one of 21 too large", "over 32 MB"],
)
async def test_pictures_that_were_imported_and_are_refused_are_hidden_visibly_and_can_be_shown_again(
    tmp_path: Path, pictures: list[tuple[str, bytes]], left: int
) -> None:
    async with session(tmp_path) as (engine, recorder, server):
        await engine.open_task(await engine.import_file(imported(tmp_path, *pictures), "messages"))
        before = path_of(engine)
        end = await recorder.turn("and now?")
        assert end.reason == "completed", end.message
        assert str(server.requests[-1].body).count("'type': 'image'") == left
        (marker,) = bodies(engine, Mask)
        row = next(row.body for row in await engine.read.rows() if isinstance(row.body, ReductionRow))
        assert row.title == "Pictures hidden" and server.refused[0] in dict(row.details)["Reason"].replace("\n", " ")
        assert len(marker.items) == len(pictures) - left
        assert (await recorder.turn("and again?")).reason == "completed"
        assert len(server.refused) == 1 and path_of(engine)[: len(before)] == before
        await engine.undo()
        assert (await recorder.turn("and after the undo?")).reason == "completed"
        assert [end.reason for end in recorder.of(TurnEnded)] == ["completed"] * 3


async def test_a_condense_whose_pictures_are_refused_is_written_without_them(tmp_path: Path) -> None:
    async with session(tmp_path) as (engine, recorder, server):
        file = imported(tmp_path, ("image/png", picture(1440, 8570)), ("image/png", picture(40, 30)))
        await engine.open_task(await engine.import_file(file, "messages"))
        server.steps = [answer(text(SUMMARY))]
        await engine.condense()
        await engine.idle()
        assert len(server.refused) == 1
        assert "'type': 'image'" not in str(server.requests[-1].body) and "[Image]" in str(server.requests[-1].body)
        assert (await recorder.turn("and now?")).reason == "completed"
