"""What an outline shows of a source file."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from roo_tui.outline import LARGEST_CHARACTERS, language_of, languages, outline

PYTHON = '''import os

@dataclass
class Item:
    name: str

    @property
    def total(self) -> int:
        """Price times count."""
        value = self.price * self.count
        return value

def short(): return 1
'''

# One small file per language, and the lines its outline must hold.
EXAMPLES = {
    "a.py": (PYTHON, ["4--11 | class Item:", "8--11 |     def total(self) -> int:"]),
    "a.ts": (
        "export interface Options {\n  name: string\n  retries: number\n}\n\nenum Color {\n  Red,\n  Green,\n}\n\n"
        "export const go = async () => {\n  await one()\n  await two()\n}\n\n"
        "describe('suite', () => {\n  one()\n  two()\n})\n",
        [
            "1--4 | export interface Options {",
            "6--9 | enum Color {",
            "11--14 | export const go = async () => {",
            "16--19 | describe('suite', () => {",
        ],
    ),
    "a.tsx": (
        "export function Panel({ title }: Props) {\n  return (\n    <p>{title}</p>\n  )\n}\n",
        ["1--5 | export function Panel({ title }: Props) {"],
    ),
    "a.js": (
        "class Queue {\n  push(item) {\n    this.items.push(item)\n    return this\n  }\n}\n\n"
        "module.exports = {\n  Queue,\n  other,\n}\n",
        ["1--6 | class Queue {", "2--5 |   push(item) {", "8--11 | module.exports = {"],
    ),
    "a.go": (
        "package main\n\ntype Server struct {\n\tAddr string\n\tPort int\n}\n\n"
        "func (s *Server) Run() error {\n\ta := 1\n\treturn nil\n}\n",
        ["3--6 | type Server struct {", "8--11 | func (s *Server) Run() error {"],
    ),
    "a.rs": (
        "impl Pool {\n    pub fn new(size: usize) -> Self {\n        let a = 1;\n        Self { size }\n    }\n}\n",
        ["1--6 | impl Pool {", "2--5 |     pub fn new(size: usize) -> Self {"],
    ),
    "A.java": (
        "class A {\n    @Override\n    public void run() {\n        a();\n        b();\n    }\n}\n",
        ["1--7 | class A {", "2--6 |     public void run() {"],
    ),
    "a.c": (
        "typedef struct ring {\n    int head;\n    int tail;\n} ring_t;\n\n"
        "static int\nring_push(ring_t *r)\n{\n    return 0;\n}\n",
        ["1--4 | typedef struct ring {", "6--10 | ring_push(ring_t *r)"],
    ),
    "a.cpp": (
        "namespace geo {\n\nclass Box {\npublic:\n    double area() const {\n        double a = w;\n        return a;\n"
        "    }\n};\n\n}\n",
        ["1--11 | namespace geo {", "3--9 | class Box {", "5--8 |     double area() const {"],
    ),
    "A.cs": (
        "namespace Demo\n{\n    public class Api\n    {\n        public int Count(int a)\n        {\n"
        "            return a;\n        }\n    }\n}\n",
        ["1--10 | namespace Demo", "3--9 |     public class Api", "5--8 |         public int Count(int a)"],
    ),
    "a.rb": (
        "module Shop\n  class Order\n    def total\n      a = 1\n      a\n    end\n  end\nend\n",
        ["1--8 | module Shop", "2--7 |   class Order", "3--6 |     def total"],
    ),
    "a.php": (
        "<?php\nclass Page\n{\n    public function render()\n    {\n        return 1;\n    }\n}\n",
        ["2--8 | class Page", "4--7 |     public function render()"],
    ),
    "a.kt": (
        "class Service {\n    fun find(name: String): User? {\n        val a = 1\n        return a\n    }\n}\n",
        ["1--6 | class Service {", "2--5 |     fun find(name: String): User? {"],
    ),
    "a.swift": (
        "struct Point {\n    func total() -> Int {\n        let t = 1\n        return t\n    }\n}\n",
        ["1--6 | struct Point {", "2--5 |     func total() -> Int {"],
    ),
    "a.scala": (
        "object Main {\n  def run(a: Int): Int = {\n    val b = a\n    b\n  }\n}\n",
        ["1--6 | object Main {", "2--5 |   def run(a: Int): Int = {"],
    ),
    "a.lua": (
        "local M = {}\nfunction M.run(a)\n  local b = a\n  return b\nend\n",
        ["2--5 | function M.run(a)"],
    ),
    "a.sh": ("build() {\n  one\n  two\n}\n", ["1--4 | build() {"]),
    "a.html": (
        '<html>\n  <body>\n    <div id="a">\n      <p>one</p>\n      <p>two</p>\n    </div>\n  </body>\n</html>\n',
        ["1--8 | <html>", "2--7 |   <body>", '3--6 |     <div id="a">'],
    ),
    "a.css": ("@media print {\n  .a {\n    color: red;\n  }\n}\n", ["1--5 | @media print {"]),
    "a.md": (
        "# Title\n\none\ntwo\n\nUnder\n=====\n\nthree\nfour\n\n```\n# no heading\n```\n",
        ["1--5 | # Title", "6--14 | Under"],
    ),
    "a.toml": ("[one]\na = 1\nb = 2\nc = 3\n\n[two]\nd = 4\n", ["1--5 | [one]"]),
    "a.ex": (
        "defmodule Demo do\n  def run(a) do\n    b = a\n    b\n  end\nend\n",
        ["1--6 | defmodule Demo do", "2--5 |   def run(a) do"],
    ),
    "a.zig": ("pub fn main() !void {\n    const a = 1;\n    _ = a;\n}\n", ["1--4 | pub fn main() !void {"]),
    "a.sol": (
        "contract Token {\n    function send(uint a) public {\n        b -= a;\n        c += a;\n    }\n}\n",
        ["1--6 | contract Token {", "2--5 |     function send(uint a) public {"],
    ),
    "a.ml": ("module M = struct\n  let x = 1\n  let y = 2\nend\n", ["1--4 | module M = struct"]),
}


@pytest.mark.parametrize("path", EXAMPLES)
def test_definitions_are_listed_with_their_lines(path: str) -> None:
    text, expected = EXAMPLES[path]
    shown = outline(f"some/folder/{path}", text)
    assert shown.startswith(f"# {path}\n")
    assert [line for line in expected if line not in shown.splitlines()] == []


def test_every_language_has_an_example() -> None:
    assert {language_of(path) for path in EXAMPLES} == set(languages._ENDINGS)


def test_whole_outline_is_header_and_sorted_lines() -> None:
    assert outline("shop/cart.py", PYTHON) == "# cart.py\n4--11 | class Item:\n8--11 |     def total(self) -> int:\n"


def test_carriage_returns_and_case_of_the_ending_do_not_matter() -> None:
    text = "class A:\r\n    a = 1\r\n    b = 2\r\n    c = 3\r\n"
    assert outline("UPPER.PY", text) == "# UPPER.PY\n1--4 | class A:\n"


def test_file_without_large_definitions_has_no_outline() -> None:
    assert outline("small.py", "def f():\n    return 1\n") == ""
    assert outline("empty.py", "") == ""


def test_unknown_kind_of_file_has_no_outline() -> None:
    assert outline("notes.txt", PYTHON) == ""
    assert outline("Makefile", PYTHON) == ""


def test_file_over_the_limit_has_no_outline() -> None:
    assert outline("huge.py", PYTHON + "#" * LARGEST_CHARACTERS) == ""


def test_long_line_is_cut() -> None:
    text = f"def f({'a, ' * 200}):\n    1\n    2\n    3\n"
    line = outline("long.py", text).splitlines()[1]
    assert line.endswith("…")
    assert len(line) < 230


@settings(max_examples=40, deadline=None)
@given(st.sampled_from(sorted(EXAMPLES)), st.text(max_size=200), st.integers(0, 400))
def test_any_text_gives_ranges_inside_the_file_in_order(path: str, noise: str, at: int) -> None:
    text = EXAMPLES[path][0]
    text = text[:at] + noise + text[at:]
    count = len(text.replace("\r\n", "\n").split("\n"))
    rows = [row.split(" | ")[0].split("--") for row in outline(path, text).split("\n")[1:] if " | " in row]
    ranges = [(int(first), int(last)) for first, last in rows if first.isdigit()]
    assert ranges == sorted(set(ranges))
    assert all(first >= 1 and first + 3 <= last <= count for first, last in ranges)
