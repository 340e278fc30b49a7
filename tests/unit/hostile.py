"""Texts that would steer a terminal or a CI service, and what looks for them in what was printed."""

from __future__ import annotations

import re

from hypothesis import strategies as st

#: One of everything, as an agent, a file or a provider may write it.
PIECES = (
    *("::error::E", "::set-output name=a::b", "::add-mask::x", "##[error]E", "##[group]", "##vso[task.setvariable]x"),
    *("##teamcity[buildProblem]", "###[error]", "\x1b[31m", "\x1b]0;title\x07", "\x9b31m", "\x00", "\x7f", "\x08"),
    *("\u202e", "\u2066", "\u200b", "\u2028", "\u2029", "\x85", "\x0b", "\x0c", "\x1c", "\ud800", "\ufeff", "\xa0"),
    *("\n", "\r", "\r\n", "\t", " ", "  ", "word", "é", "漢", "|", "`", "<img src=x onerror=alert(1)>", "\\", "'"),
    *("[a](http://evil.example)", "<!--", "</details>", "@someone", "#1", "www.evil.example", "&lt;", "***", "==="),
)
EVERYTHING = "".join(f"{piece} {piece}\n{piece}\r{piece}" for piece in PIECES)
texts = st.lists(st.sampled_from(PIECES) | st.text(max_size=4), max_size=12).map("".join)


def steering(output: str) -> list[str]:
    """The lines of an output that a CI service would take for a command, or that a terminal would not just show."""
    return [line for line in re.split(r"\r\n|\n|\r", output) if _is_command(line) or not line.isprintable()]


def _is_command(line: str) -> bool:
    """GitHub takes ``::`` after blanks, and ``##[`` anywhere in the line; Azure and TeamCity likewise."""
    return line.strip().startswith("::") or re.search(r"##\w*\[", line) is not None
