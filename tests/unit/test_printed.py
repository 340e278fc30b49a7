"""What is printed of others' texts: nothing that steers a terminal, nothing that a CI service takes for a command."""

from __future__ import annotations

import html
import io
import json
import re
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import pytest
from _pytest._io import TerminalWriter
from hypothesis import example, given, settings, strategies as st
from trial_records import trial_record

from pytest_tau.commands.output import Printer, print_json
from pytest_tau.evaluation import Line
from pytest_tau.plugin.failure_repr import FailureRepr, message_repr
from pytest_tau.plugin.report.terminal import TerminalSummary
from pytest_tau.plugin.seams import SummaryLine
from pytest_tau.reports.markdown import annotation_lines, escaped, failing_tasks, markdown
from pytest_tau.runs.record import TrialRecord
from pytest_tau.text import one_line, printable, visible

from .hostile import EVERYTHING, PIECES, steering, texts

if TYPE_CHECKING:
    from pathlib import Path

widths = st.integers(min_value=20, max_value=120)
quick = settings(max_examples=60, deadline=None)


def record(text: str) -> TrialRecord:
    told = {"domain": text or "d", "termination_reason": "agent_error", "error": text, "failed_checks": (text,)}
    return trial_record(text, outcome="failed", **told)


@pytest.mark.parametrize("piece", ["\x1b[31m", "::error::E", "a\r::error::E", "##[error]E", "a ##vso[x]", "  ::a"])
def test_the_check_of_these_tests_finds_what_it_looks_for(piece: str) -> None:
    assert steering(piece)


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("\x1b[31mred", r"\x1b[31mred"),
        ("a\u202eb\u200bc", r"a\u202eb\u200bc"),
        ("one\r\ntwo\rthree", "one\ntwo\\rthree"),
        ("a\tb\xa0c", "a    b c"),
        ("\ud800\x00\x85\u2028", r"\ud800\x00\x85\u2028"),
        ("Grüße, 漢字 🙂", "Grüße, 漢字 🙂"),
    ],
)
def test_what_is_not_seen_is_shown_as_an_escape(text: str, shown: str) -> None:
    assert visible(text) == shown


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("::error::E", r"\::error::E"),
        ("a\n  ::error::E", "a\n  \\::error::E"),
        ("a ::error::E, test.py::test_it", "a ::error::E, test.py::test_it"),
        ("a ##[error]E ###[b] ## [c]", r"a #\#[error]E ##\#[b] ## [c]"),
        ("##vso[task.complete]##teamcity[x]", r"#\#vso[task.complete]#\#teamcity[x]"),
    ],
)
def test_commands_for_ci_services_are_broken_and_nothing_else(text: str, shown: str) -> None:
    assert printable(text) == shown


@given(texts)
@example(EVERYTHING)
@settings(max_examples=300, deadline=None)
def test_printable_text_stays_as_it_is(text: str) -> None:
    once = printable(text)
    assert not steering(once)
    assert printable(once) == once
    assert len(once.split("\n")) == len(text.replace("\r\n", "\n").split("\n"))


@given(texts, widths)
@quick
def test_one_line_is_one_line(text: str, width: int) -> None:
    shown = one_line(text, width)
    assert len(shown) <= width
    assert shown.isprintable()


@given(
    st.lists(st.tuples(st.sampled_from(["bad", "error", "agent", "user", "note", "command", "head"]), texts)), widths
)
@example([("bad", "x" * 19 + "::error::E"), ("agent", f"  agent  {'y' * 300} ##[error]")], 20)
@quick
def test_the_report_of_a_failure(lines: list[tuple[str, str]], width: int) -> None:
    shown = io.StringIO()
    writer = TerminalWriter(shown)
    writer.fullwidth = width
    message = "".join(text for _, text in lines)
    for failure in (FailureRepr(message, [Line(kind, text) for kind, text in lines], "t"), message_repr(message, "t")):  # type: ignore[arg-type]
        failure.toterminal(writer)
        writer.line(str(failure))
        writer.line(failure.reprcrash.message)
    # The line of --tb=line, and that of an error without a traceback.
    for is_error in (True, False):
        short = FailureRepr(message, [], "t", "line", is_error=is_error)
        short.toterminal(writer)
        short.reprcrash.toterminal(writer)
    assert not steering(shown.getvalue())


@given(st.lists(texts), widths, st.integers(min_value=0, max_value=20))
@example(["x" * 39 + "::error::E"], 40, 0)
@quick
def test_the_lines_of_the_command(lines: list[str], width: int, indent: int) -> None:
    with pytest.MonkeyPatch.context() as patch:
        shown = io.StringIO()
        patch.setattr("sys.stdout", shown)
        patch.setenv("COLUMNS", str(width))
        for text in lines:
            Printer().line(text, indent)
            Printer().together(text, text)
    assert not steering(shown.getvalue())


@given(st.recursive(texts, lambda inner: st.lists(inner) | st.dictionaries(texts, inner), max_leaves=6))
@example([EVERYTHING.replace("\ud800", "")])
@quick
def test_a_json_document_is_the_same_data(value: Any) -> None:
    with pytest.MonkeyPatch.context() as patch:
        shown = io.StringIO()
        patch.setattr("sys.stdout", shown)
        print_json(value)
    assert not steering(shown.getvalue())
    assert json.loads(shown.getvalue()) == value


@given(texts)
@quick
def test_the_lines_of_the_summary(text: str) -> None:
    lines: list[str] = []
    summary = [SummaryLine(f"tau: {text}"), SummaryLine(text), SummaryLine("::a::b", {}, True)]
    implementation = SimpleNamespace(plugin_name="tau-summary", function=lambda: summary)
    config: Any = SimpleNamespace(
        hook=SimpleNamespace(pytest_tau_summary_lines=SimpleNamespace(get_hookimpls=lambda: [implementation])),
        get_verbosity=lambda: 0,
        get_terminal_writer=lambda: SimpleNamespace(fullwidth=80),
    )
    reporter = SimpleNamespace(write_line=lambda line, **_: lines.append(line), write_sep=lambda *_: None)
    TerminalSummary(config).pytest_terminal_summary(reporter)
    assert lines[-1] == "::a::b"
    assert not steering("\n".join(lines[:-1]))


@given(texts)
@example(EVERYTHING)
@quick
def test_the_page_in_markdown(text: str) -> None:
    from pytest_tau.analysis.summary import summarise

    records = [record(text)]
    page = markdown(summarise(records, group_by=("tags",)), failing_tasks(records), [(text, True)])
    assert not steering(page)
    own = r"<(/?details|/?summary)>"
    assert not re.findall(r"<", re.sub(own, "", page))
    for line in page.splitlines():
        cells = re.findall(r"(?<!\\)(?:\\\\)*\|", line)
        assert not cells or line.startswith("|")


@given(texts)
@example(EVERYTHING)
@quick
def test_text_has_no_meaning_in_markdown(text: str) -> None:
    shown = escaped(text)
    assert shown.isprintable()
    for sign in "`*[]|~#$":
        assert not re.search(rf"(?<!\\)(?:\\\\)*{re.escape(sign)}", shown)
    assert not re.search(r"[<>]|&(?!(amp|lt|gt|ZeroWidthSpace);)|https?://|www\.", shown)
    # Mentions and references are looked for in what is rendered.
    rendered = html.unescape(re.sub(r"\\(.)", r"\1", shown))
    assert not re.search(r"(?<!\w)@\w|[#!]\d|\bGH-\d", rendered, re.IGNORECASE)


@given(texts)
@example(EVERYTHING)
def test_an_annotation_is_one_command(tmp_path_factory: pytest.TempPathFactory, text: str) -> None:
    folder: Path = tmp_path_factory.getbasetemp()
    (line,) = annotation_lines(failing_tasks([record(text)]), folder, folder)
    assert line.isprintable()
    place, _, _ = line.removeprefix("::error ").partition("::")
    assert [each.partition("=")[0] for each in place.split(",")] == ["title"]


def test_there_are_hostile_texts() -> None:
    assert all(steering(f"{piece}x") for piece in PIECES[:12])
