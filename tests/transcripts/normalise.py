"""Replace what differs from run to run and from machine to machine: times, paths, versions, process ids."""

from __future__ import annotations

import itertools
import json
import re
from typing import TYPE_CHECKING, Any
from xml.etree import ElementTree as ET

if TYPE_CHECKING:
    from pathlib import Path

#: In terminal output, in order. A run's closing line is padded by the width of the duration, so it is rebuilt.
_TERMINAL = (
    (r"^ +[~^]+\n", ""),  # below a line of a traceback, as of Python 3.11
    (r"^=+ (.*) in \d+\.\d+s(?: \([\d:]+\))? =+$", r"== \1 in <duration> =="),
    (
        r"^(.* (?:passed|failed|error|errors|skipped|failing|deselected).*) in \d+\.\d+s(?: \([\d:]+\))?$",
        r"\1 in <duration>",
    ),
    (r"^(no tests (?:ran|collected)|\d+ tests? collected) in \d+\.\d+s$", r"\1 in <duration>"),
    (r"^platform .*$", "platform <platform>"),
    (r"^plugins: .*$", "plugins: <plugins>"),
    (r"^(\[gw\d+\] )\S+ -- Python .*$", r"\1<platform>"),
    (r"^\s+\^+$\n", ""),  # from Python 3.11 on
    (r"^INTERNALERROR> (?!\w+: ).*\n", ""),  # the traceback: lines of the plugin, of pluggy and of pytest
    (r"\[gw\d+\]", "[<worker>]"),
    (r"\bgw\d+\b", "<worker>"),
    # Of what was cut or padded to the terminal's width, the part that depends on the length of a path.
    (r"(<root>|<run \d+>).*\.\.\.$", r"\1..."),
    (r"^([-=_!])\1* (.*<root>.*) \1+$", r"\1\1 \2 \1\1"),
)
#: In any text.
_EVERYWHERE = (
    (r"\b[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}\b", "<uuid>"),
    (r"\b\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d(?:\.\d+)?(?:\+00:00|Z)?", "<time>"),
    (r"(-\d+-(?:\d+|None)-)[0-9a-f]{8}\b", r"\1<hash>"),  # the id of a simulation
    (r",\s+duration p50 [\d.]+ \w+,\s+p95 [\d.]+ \w+", ""),  # only of slow runs
    (r'"times": \[[^\]]*\]', '"times": "<times>"'),  # of a cassette
    (r'"digest": "sha256:\w+"', '"digest": "<digest>"'),  # covers the times
)
#: Start, process, what was run, and a number where that leaves two runs with one name.
_RUN_FOLDER = r"\b\d{8}-\d{6}-\d+-([A-Za-z+]+(?:-[A-Za-z+]+)*)(?:-\d+)?\b"

#: Values of JSON that are replaced, by the name of their field; None stays.
_FIELDS = {
    **dict.fromkeys(("started", "finished", "start_time", "end_time", "timestamp", "blessed"), "<time>"),
    **dict.fromkeys(("duration", "generation_time_seconds"), "<seconds>"),
    "grader": "<grader>",
}
#: Fields that change with each change of a domain's source, which tests/unit/test_changed.py is about.
_OF_SOURCES = {"parts"}
#: Whether the folder of temporary files is below a repository is the machine's matter.
_OF_REPOSITORY = {"commit": "<commit>", "dirty": "<dirty>"}
#: How lines begin of which each is about one test.
_OF_TEST = r"\[<worker>\]|(?:FAILED|ERROR|XFAIL|XPASS|SKIPPED|PASSED) |\S+::"
_XML_ATTRIBUTES = {"time": "<seconds>", "timestamp": "<time>", "hostname": "<host>"}


class Normaliser:
    """Replaces what differs, for one scratch project.

    Args:
        root: The folder of the project.
    """

    def __init__(self, root: Path) -> None:
        names = sorted({str(root), str(root.resolve())}, key=len, reverse=True)
        # Long lines are wrapped, so a path may be cut by a line's end; what is too long is cut off.
        wrapped = ["".join(re.escape(each) + r"(?:\n {2,})?" for each in name) for name in names]
        self._root = re.compile(rf"(?:(?<=\S)\n {{2,}})?(?<![^\s('\"=-])(?:{'|'.join(wrapped)})")
        beginnings = (re.escape(name[:length]) for name in names for length in range(len(name), 0, -1))
        self._cut_root = re.compile(rf"(?<=[\s(])(?:{'|'.join(beginnings)})(?:\.\.\.|…)")
        self._name = root.name
        self._runs: dict[str, int] = {}

    def text(self, text: str) -> str:
        """Return any text without paths, times, and ids; folders of runs are numbered."""
        text = self._root.sub(lambda found: " <root>" if found.group().startswith("\n") else "<root>", text)
        text = self._cut_root.sub("<root>...", text).replace(self._name, "<root>")
        for pattern, replacement in _EVERYWHERE:
            text = re.sub(pattern, replacement, text)
        return re.sub(_RUN_FOLDER, lambda found: f"<run {self.number(found.group())}>-{found.group(1)}", text)

    def terminal(self, lines: list[str], *, unordered: bool) -> str:
        """Return what a command wrote; lines that workers write in any order are sorted if so asked."""
        text = self.text("\n".join(line.rstrip() for line in lines))
        for pattern, replacement in _TERMINAL:
            text = re.sub(pattern, replacement, text, flags=re.MULTILINE)
        return _sorted_output(text) if unordered else text

    def json(self, value: Any) -> Any:
        """Return a JSON value with the fields replaced that differ from run to run."""
        if isinstance(value, list):
            return [self.json(each) for each in value]
        if isinstance(value, dict):
            shown = {name: each for name, each in value.items() if name not in _OF_SOURCES}
            return {name: self._field(name, each) for name, each in shown.items()}
        return self.text(value) if isinstance(value, str) else value

    def _field(self, name: str, value: Any) -> Any:
        if name in _OF_REPOSITORY:
            return _OF_REPOSITORY[name]
        if name in _FIELDS and not isinstance(value, dict | list):
            return value if value is None else _FIELDS[name]
        if name == "resumed":  # once for each second in which it was
            return self.json(value[:1])
        if name == "versions" and isinstance(value, dict):
            return "<versions>"
        return self.json(value)

    def xml(self, text: str, *, unordered: bool) -> str:
        """Return a JUnit report, an element a line."""
        tree = ET.fromstring(text)
        for element in tree.iter():
            element.attrib.update({name: to for name, to in _XML_ATTRIBUTES.items() if name in element.attrib})
            if unordered and element.tag == "testsuite":
                element[:] = sorted(element, key=lambda each: (each.get("classname") or "", each.get("name") or ""))
        ET.indent(tree)
        found = ET.tostring(tree, encoding="unicode")
        found = re.sub(r"\[gw\d+\] \S+ -- Python .*", "[<worker>] <platform>", found)
        return self.text(found)

    def number(self, folder: str) -> int:
        """Return the number by which a folder of a run is recorded, a new one for a new folder."""
        return self._runs.setdefault(folder, len(self._runs) + 1)


def dumped(value: dict[str, Any], *, full: bool) -> str:
    """Return an object as it is recorded: a line for each field, or for each value."""
    if full:
        return json.dumps(value, indent=1, ensure_ascii=False)
    return "\n".join(f"{name}: {json.dumps(each, ensure_ascii=False)}" for name, each in value.items())


def _sorted_output(text: str) -> str:
    """Return the output of a run over workers, with sorted tests, letters, and explanations."""
    parts = re.split(r"^(=+ .* =+)$", text, flags=re.MULTILINE)
    for number in range(0, len(parts), 2):
        title = parts[number - 1] if number else ""
        if re.search(r"FAIL|ERRORS|BROKEN", title):
            parts[number] = _sorted_blocks(parts[number])
        else:
            parts[number] = _sorted_lines(_sorted_progress(parts[number]))
    return "".join(parts)


def _sorted_blocks(text: str) -> str:
    blocks, end, rest = re.match(r"(.*?)(^tau: |^-- |\Z)(.*)", text, re.MULTILINE | re.DOTALL).groups()
    first, *blocks = re.split(r"^(?=_{3,} .* _{3,}$)", blocks, flags=re.MULTILINE)
    return "".join([first, *sorted(blocks), end, rest])


def _sorted_lines(text: str) -> str:
    """Return a text in which neighbouring lines of a test each are sorted."""
    groups = itertools.groupby(text.split("\n"), lambda line: re.match(_OF_TEST, line) is not None)
    return "\n".join(line for of_tests, lines in groups for line in (sorted(lines) if of_tests else lines))


def _sorted_progress(text: str) -> str:
    """Return a text without percentages that begins with the letters of all tests, sorted."""
    lines, letters = [], ""
    for line in text.split("\n"):
        if found := re.match(r"(?:\S+\.\w+ )?([.FEsxXfR]+)(?: +\[ *\d+%\]$|$|(?=\[<worker>\] node down))", line):
            letters += found.group(1)
            line = line[found.end() :]
            if not line:
                continue
        if not re.fullmatch(r" +\[ *\d+%\]", line):
            lines.append(re.sub(r" +\[ *\d+%\]", "", line))
    return "\n".join([f"{lines[0]}", f"{''.join(sorted(letters))} (sorted)", *lines[1:]] if letters else lines)
