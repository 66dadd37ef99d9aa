"""Generated conversations of a coding agent, the same for the same seed: by kind, with the facts tools would record."""

import random
from collections.abc import Callable, Sequence

from roo_tui.context.history.effective import effective_history
from roo_tui.domain.blocks import Text, ToolResult, ToolUse
from roo_tui.domain.entries import AssistantMessage, Body, CallFacts, CallRecord, Entry, UserMessage
from roo_tui.domain.markers import Condense

_SENTENCE = "value path date parse total index reader writer cache token order price limit queue state retry"
_WORDS = tuple(_SENTENCE.split(" "))


class _Talk:
    """A conversation under construction over files that change as the agent writes them."""

    def __init__(self, seed: int, files: int = 6, lines: int = 120) -> None:
        self.random = random.Random(seed)
        self.bodies: list[Body] = []
        self.files = {f"src/module_{number}.py": self.source(lines) for number in range(files)}
        self._calls = 0

    def source(self, lines: int) -> list[str]:
        return [self.line() for _ in range(lines)]

    def line(self) -> str:
        words = self.random.choices(_WORDS, k=4)
        return self.random.choice(
            [
                f"def {words[0]}_{words[1]}({words[2]}, {words[3]}):",
                f"    {words[0]} = {words[1]}({words[2]!r}, {self.random.randrange(10_000)})",
                f"    return {words[0]}.{words[1]}[{self.random.randrange(100)}]",
                "",
            ]
        )

    def user(self, message: str) -> None:
        self.bodies.append(UserMessage((Text(message),), words=message))

    def answer(self, text: str) -> None:
        self.bodies.append(AssistantMessage((Text(text),)))

    def call(
        self, tool: str, given: dict[str, object], result: str, facts: CallFacts, *, is_error: bool = False
    ) -> None:
        self._calls += 1
        call_id = f"call_{self._calls}"
        self.bodies.append(AssistantMessage((Text(f"Now {tool}."), ToolUse(call_id, tool, given))))
        record = CallRecord(call_id, tool, facts)
        self.bodies.append(UserMessage((ToolResult(call_id, result, is_error),), source="tools", calls=(record,)))

    def any_file(self) -> str:
        return self.random.choice(sorted(self.files))

    def read(self, path: str = "", lines: tuple[int, int] | None = None) -> None:
        path = path or self.any_file()
        first, last = lines or (1, len(self.files[path]))
        shown = [f"{number} | {line}" for number, line in enumerate(self.files[path][first - 1 : last], first)]
        given: dict[str, object] = {"path": path} | ({"first_line": first, "last_line": last} if lines else {})
        self.call("read_file", given, "\n".join(shown), CallFacts("read", path, lines, full_content=True))

    def write(self, path: str = "") -> None:
        path = path or self.any_file()
        self.files[path] = self.source(len(self.files.get(path, [""] * 60)))
        given: dict[str, object] = {"path": path, "content": "\n".join(self.files[path])}
        facts = CallFacts("write", path, full_content=True, changed=(path,))
        self.call("write_to_file", given, f"{path} was written.", facts)

    def edit(self, path: str = "") -> None:
        path = path or self.any_file()
        at = self.random.randrange(len(self.files[path]))
        old, new = self.files[path][at], self.line()
        self.files[path][at] = new
        diff = f"<<<<<<< SEARCH\n{old}\n=======\n{new}\n>>>>>>> REPLACE"
        facts = CallFacts("edit", path, changed=(path,))
        self.call("apply_diff", {"path": path, "diff": diff}, f"{path} was changed in 1 place.", facts)

    def list(self) -> None:
        names = "\n".join([*sorted(self.files), *(f"src/data/{word}_{word}.json" for word in _WORDS)])
        self.call("list_files", {"path": "src"}, names, CallFacts("list", "src", full_content=True))

    def search(self, word: str) -> None:
        hits = [
            f"  {number} | {line}"
            for path in sorted(self.files)
            for number, line in enumerate(self.files[path], 1)
            if word in line
        ]
        facts = CallFacts("search", "src", full_content=True, query=word)
        self.call("search_files", {"path": "src", "regex": word}, "\n".join(hits) or "Nothing found.", facts)

    def test(self) -> None:
        failed = self.random.random() < 0.3
        lines = [f"tests/test_{word}.py::test_{word} PASSED" for word in _WORDS]
        lines += [f"FAILED tests/test_{self.random.choice(_WORDS)}.py - AssertionError"] if failed else []
        lines.append(f"{len(_WORDS)} tests in {self.random.random():.2f} s")
        facts = CallFacts("command", query="pytest -q", exit_code=int(failed))
        self.call("execute_command", {"command": "pytest -q"}, "\n".join(lines), facts, is_error=failed)


def _turns(talk: _Talk, turns: int, steps: Sequence[Callable[[], None]], a_turn: int = 6) -> None:
    for number in range(turns):
        talk.user(f"Request {number}: see to {talk.random.choice(_WORDS)} and {talk.random.choice(_WORDS)}, please.")
        for _ in range(a_turn):
            talk.random.choice(steps)()
        talk.answer(f"Request {number} is done.")


def write_heavy(seed: int) -> tuple[Entry, ...]:
    talk = _Talk(seed)
    _turns(talk, 6, [talk.write, talk.write, talk.edit, talk.test])
    return entries(talk.bodies)


def read_heavy(seed: int) -> tuple[Entry, ...]:
    talk = _Talk(seed, files=40)
    paths = iter(sorted(talk.files))
    _turns(talk, 5, [lambda: talk.read(next(paths))])
    return entries(talk.bodies)


def repeated_reads(seed: int) -> tuple[Entry, ...]:
    talk = _Talk(seed, files=3, lines=200)

    def part() -> None:
        first = talk.random.randrange(1, 100)
        talk.read(lines=(first, first + 80))

    _turns(talk, 6, [talk.read, talk.read, part, talk.edit, talk.list])
    return entries(talk.bodies)


def mixed(seed: int) -> tuple[Entry, ...]:
    talk = _Talk(seed)

    def search() -> None:
        talk.search(talk.random.choice(_WORDS[:3]))

    _turns(talk, 10, [talk.read, talk.write, talk.edit, talk.list, search, talk.test])
    return entries(talk.bodies)


def small(seed: int) -> tuple[Entry, ...]:
    talk = _Talk(seed, lines=15)
    _turns(talk, 1, [talk.read, talk.edit, talk.test], a_turn=3)
    return entries(talk.bodies)


def large(seed: int) -> tuple[Entry, ...]:
    talk = _Talk(seed, files=30, lines=250)

    def search() -> None:
        talk.search(talk.random.choice(_WORDS))

    _turns(talk, 25, [talk.read, talk.edit, talk.edit, search, talk.test, talk.write], a_turn=8)
    return entries(talk.bodies)


def already_condensed(seed: int) -> tuple[Entry, ...]:
    path = mixed(seed)
    half = [body for body in path if not isinstance(body.body, Condense)][: len(path) // 2]
    # The half ends with an answer, so that no call is cut off from its result.
    while not (isinstance(half[-1].body, AssistantMessage) and len(half[-1].body.blocks) == 1):
        half.pop()
    hides = tuple(message.entry_id for message in effective_history(tuple(half)))
    summary = Condense(hides, (Text("## Conversation Summary\nSeveral requests were seen to."),))
    later = [entry.body for entry in path[len(half) :]]
    return entries([*(entry.body for entry in half), summary, *later])


KINDS: dict[str, Callable[[int], tuple[Entry, ...]]] = {
    "write-heavy": write_heavy,
    "read-heavy": read_heavy,
    "repeated-reads": repeated_reads,
    "mixed": mixed,
    "small": small,
    "large": large,
    "already-condensed": already_condensed,
}


def entries(bodies: Sequence[Body]) -> tuple[Entry, ...]:
    """Return the bodies as the path of a task, a second apart."""
    return tuple(Entry(number, number - 1 or None, number * 1000, body) for number, body in enumerate(bodies, 1))
