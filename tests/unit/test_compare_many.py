"""Comparison of several runs: the correction of p-values, the pairing by seed, the formats of ``tau compare``."""

from __future__ import annotations

import json
import re
import sys
from typing import Any

import pytest
from trial_records import trial_record, write_records

from pytest_tau.analysis.compare import Comparison
from pytest_tau.analysis.many import ManyRuns, holm
from pytest_tau.analysis.paired import Paired
from pytest_tau.analysis.run_records import RunRecords
from pytest_tau.cli import main
from pytest_tau.reports.many_latex import many_latex
from pytest_tau.reports.many_runs import many_html, many_markdown, many_text

OUTCOMES = {"p": "passed", "f": "failed", "e": "error"}


def run_of(name: str, tasks: dict[str, str], seeds: tuple[int | None, ...] = (), info: Any = None, **fields: Any):
    """A run of tasks with the outcomes of their trials: ``pf`` for a passed and a failed one."""
    records = [
        trial_record(task, trial, OUTCOMES[one], seed=seeds[trial] if trial < len(seeds) else None, **fields)
        for task, letters in tasks.items()
        for trial, one in enumerate(letters)
    ]
    return RunRecords(name, records, info or {})


def variants_of(name: str, tests: dict[str, dict[str, str]]) -> RunRecords:
    """A run of several tests, each named by the node id of its trials, in which braces are the task."""
    records = [
        record.model_copy(update={"test": test.format(record.task_id)})
        for test, tasks in tests.items()
        for record in run_of(name, tasks).records
    ]
    return RunRecords(name, records, {})


def tasks_of(*letters: str) -> dict[str, str]:
    return {f"t{number}": each for number, each in enumerate(letters)}


class TestUndecided:
    @pytest.mark.parametrize(("tasks", "decided"), [(5, False), (6, True)])
    def test_two_comparisons_need_six_tasks_that_passed(self, tasks: int, decided: bool) -> None:
        many = ManyRuns([run_of(name, tasks_of(*"p" * tasks)) for name in "abc"])
        assert many.fails is not decided
        why = "not decided: 5 tasks passed before, and a loss on fewer than 6 is never significant"
        assert many.undecided == ([] if decided else [f"b against a: {why}", f"c against a: {why}"])


class TestHolm:
    def test_values_are_those_of_the_definition(self) -> None:
        """Sorted 0.01, 0.03, 0.04: times 3, 2 and 1, and never less than an earlier one."""
        assert holm([0.04, 0.01, 0.03]) == pytest.approx([0.06, 0.03, 0.06])

    def test_a_single_comparison_is_not_changed(self) -> None:
        assert holm([0.04]) == [0.04]
        assert holm([]) == []

    def test_values_are_at_most_one(self) -> None:
        assert holm([0.6, 0.9]) == [1.0, 1.0]

    @pytest.mark.exhaustive
    def test_false_alarms_among_all_comparisons_stay_below_the_level(self) -> None:
        """Four agents that are alike are compared with a fifth: an alarm in at most 5 % of evaluations."""
        import random

        generator = random.Random(1)
        alarms, corrected = 0, 0
        for _ in range(300):
            base = [generator.choice("pf") for _ in range(30)]
            runs = [run_of(str(n), tasks_of(*(generator.choice("pf") for _ in base))) for n in range(5)]
            many = ManyRuns(runs)
            corrected += any(each.significant for each in many.contrasts)
            alarms += any(each.paired.p < 0.05 for each in many.contrasts)
        assert corrected / 300 <= 0.08 < alarms / 300


class TestManyRuns:
    def test_each_run_is_compared_with_the_first(self) -> None:
        runs = [run_of("a", tasks_of(*"p" * 12)), run_of("b", tasks_of(*"f" * 12)), run_of("c", tasks_of(*"p" * 12))]
        many = ManyRuns(runs)
        assert [(each.before, each.after, each.verdict) for each in many.contrasts] == [
            (0, 1, "significant loss"),
            (0, 2, "no significant difference"),
        ]
        assert many.regression
        assert [row.rate for row in many.rows] == [1.0, 0.0, 1.0]

    def test_a_comparison_that_no_loss_could_decide_is_not_decided_in_every_format(self) -> None:
        many = ManyRuns([run_of(name, tasks_of(*letter * 5)) for name, letter in (("a", "p"), ("b", "f"), ("c", "p"))])
        assert [each.verdict for each in many.contrasts] == ["not decided", "not decided"]
        assert [each["verdict"] for each in many.as_dict()["comparisons"]] == ["not decided", "not decided"]
        text, markdown, html = "\n".join(many_text(many, 200)), many_markdown(many), many_html(many, "Runs")
        assert [each.count("no significant difference") for each in (text, markdown, html)] == [0, 0, 0]
        assert (
            text.count("  not decided") == markdown.count("| not decided |") == html.count("<td>not decided</td>") == 2
        )
        why = "5 tasks passed before, and a loss on fewer than 6 is never significant"
        assert many.undecided == [f"b against a: not decided: {why}", f"c against a: not decided: {why}"]

    def test_all_pairs_are_corrected_for_their_number(self) -> None:
        runs = [run_of(str(n), tasks_of(*"p" * 8)) for n in range(4)]
        assert len(ManyRuns(runs, all_pairs=True).contrasts) == 6

    def test_rates_are_over_the_tasks_of_all_runs(self) -> None:
        first = run_of("a", {"both": "p", "mine": "f"})
        second = run_of("b", {"both": "p", "error": "e"})
        third = run_of("c", {"both": "f", "mine": "p", "error": "p"})
        many = ManyRuns([first, second, third])
        assert [group.task_id for group in many.tasks] == ["both"]
        assert [row.rate for row in many.rows] == [1.0, 1.0, 0.0]
        assert "a: 1 task without a verdict in every run, not compared" in many.warnings()
        assert "b: 1 error, which are not compared" in many.warnings()

    def test_trials_are_paired_by_seed_where_both_runs_have_it(self) -> None:
        """The second trial of b is an error: without it, its task does not differ from that of a."""
        first = run_of("a", tasks_of(*["pf"] * 6), (5, 6))
        second = run_of("b", tasks_of(*["pe"] * 6), (5, 6))
        (found,) = ManyRuns([first, second]).contrasts
        assert (found.by_seed, found.paired.difference) == (6, 0.0)

    def test_without_seeds_rates_of_tasks_are_compared(self) -> None:
        first, second = run_of("a", tasks_of(*["pf"] * 6)), run_of("b", tasks_of(*["pe"] * 6))
        (found,) = ManyRuns([first, second]).contrasts
        assert (found.by_seed, found.paired.difference) == (0, 0.5)

    def test_pass_hat_k_is_in_a_table_and_in_json(self) -> None:
        many = ManyRuns([run_of("a", tasks_of(*["ppp"] * 6)), run_of("b", tasks_of(*["ppf"] * 6))])
        assert [each["rates"] for each in many.as_dict()["runs"]] == [
            {"1": 1.0, "2": 1.0, "3": 1.0},
            {"1": pytest.approx(2 / 3), "2": pytest.approx(1 / 3), "3": 0.0},
        ]
        text = many_text(many, 200)
        at = text.index("run  pass^2  pass^3")
        assert text[at + 1 : at + 3] == ["a     1.000   1.000", "b     0.333   0.000"]

    def test_missing_trials_that_decide_are_a_range(self) -> None:
        many = ManyRuns([run_of(name, {"t0": "pp", "t1": "p"}) for name in "ab"])
        assert "| a | 0.500 to 1.000 |" in many_markdown(many)

    def test_with_single_trials_there_is_no_table_of_pass_hat_k(self) -> None:
        assert not any("pass^2" in line for line in many_text(ManyRuns([run_of(n, {"t": "p"}) for n in "ab"]), 200))

    def test_two_runs_are_compared_in_each_k(self) -> None:
        lines = Comparison(run_of("a", tasks_of(*["pp"] * 6)), run_of("b", tasks_of(*["pf"] * 6))).lines()
        assert "pass^2 1.000 -> 0.000" in lines

    def test_the_test_is_that_of_two_runs(self) -> None:
        many = ManyRuns([run_of("a", tasks_of(*"ppppffpp")), run_of("b", tasks_of(*"pfffffpp"))])
        (found,) = many.contrasts
        assert found.adjusted == found.paired.p == Paired(found.paired.pairs).p

    def test_trials_excluded_from_rates_are_not_compared(self) -> None:
        """Without them every task passes in both runs."""
        first, second = run_of("a", tasks_of(*["pp"] * 6)), run_of("b", tasks_of(*["pf"] * 6))
        excluded = [each.model_copy(update={"excluded": None if each.passed else "x"}) for each in second.records]
        many = ManyRuns([first, second._replace(records=excluded)])
        assert [row.rate for row in many.rows] == [1.0, 1.0]
        assert [row.trials for row in many.rows] == [12, 6]
        assert many.contrasts[0].paired.difference == 0
        assert "b: 6 trials excluded from rates, not compared" in many.warnings()
        assert many.as_dict()["runs"][1]["excluded"] == 6

    def test_variants_are_compared_with_their_like(self) -> None:
        """One agent loses all of eight tasks, the other none: sixteen pairs, of which no test has more than eight."""
        tests = {f"t::t[{name}-trial-0]": name for name in ("one", "two")}
        before = variants_of("a", {test: tasks_of(*"p" * 8) for test in tests})
        after = variants_of(
            "b", {"t::t[one-trial-0]": tasks_of(*"f" * 8), "t::t[two-trial-0]": tasks_of(*"p" * 7 + "e")}
        )
        many = ManyRuns([before, after, before._replace(name="c")])
        names = ["a [one]", "a [two]", "b [one]", "b [two]", "c [one]", "c [two]"]
        assert [row.name for row in many.rows] == names
        assert [row.rate for row in many.rows] == [1.0, 1.0, 0.0, 1.0, 1.0, 1.0]
        assert [row.errors for row in many.rows] == [0, 0, 0, 1, 0, 0]
        assert [row.other_tasks for row in many.rows] == [0, 1] * 3
        assert [(each.before, each.after, each.variant) for each in many.contrasts] == [
            (0, 1, "one"),
            (0, 1, "two"),
            (0, 2, "one"),
            (0, 2, "two"),
        ]
        assert [len(each.paired.pairs) for each in many.contrasts] == [8, 7, 8, 7]
        assert many.contrasts[0].adjusted == pytest.approx(4 * 0.5**8)
        found = [(each["before"], each["after"]) for each in many.as_dict()["comparisons"]]
        assert found[:2] == [("a [one]", "b [one]"), ("a [two]", "b [two]")]
        assert any(line.startswith("b [two]  a [two]") for line in many_text(many, 200))
        assert "3 runs on 8 tasks" in many.compared

    def test_variants_of_one_task_are_no_further_evidence(self) -> None:
        """The same outcomes under five attacks have the p-value that they have under one."""
        before, after = tasks_of(*"pppppppf"), tasks_of(*"fffppppp")
        tests = [f"mock::{{}}[attack.a{number}-trial-0]" for number in range(5)]
        many = ManyRuns([variants_of("a", dict.fromkeys(tests, before)), variants_of("b", dict.fromkeys(tests, after))])
        single = ManyRuns([run_of("a", before), run_of("b", after)]).contrasts[0]
        assert [each.paired.p for each in many.contrasts] == [single.paired.p] * 5

    def test_no_common_task_is_no_comparison(self) -> None:
        many = ManyRuns([run_of("a", {"x": "p"}), run_of("b", {"y": "p"})])
        assert many.contrasts == [] and many.rows[0].rate is None
        assert many.fails
        assert "nothing can be compared: no task has a verdict in every run" in many_text(many, 200)

    def test_other_users_and_texts_are_stated(self) -> None:
        first = run_of("a", tasks_of("p"), conditions={"user": "scripted", "protocol": "tau", "max_steps": 200})
        second = run_of("b", tasks_of("p"), conditions={"user": "llm", "protocol": "tau2", "max_steps": 200})
        warnings = "\n".join(ManyRuns([first, second]).warnings())
        assert "not the same as in a: the user (scripted and llm) (in b)" in warnings
        assert "not the same as in a: the protocol (tau and tau2) (in b)" in warnings
        assert "limit" not in warnings

    def test_other_policies_are_stated(self) -> None:
        def info(policy: str) -> dict[str, Any]:
            return {"hashes": {"grader": "g", "domains": {"mock": {"policy": policy}}, "tasks": {}}}

        runs = [run_of(name, tasks_of("p"), info=info(policy)) for name, policy in (("a", "1"), ("b", "2"), ("c", "2"))]
        assert "not the same as in a: policy of mock (in b, c)" in ManyRuns(runs).warnings()

    def test_every_run_is_named_whose_parts_are_unknown(self) -> None:
        parts = {"policy": "1", "tools": "2", "database": "3"}
        whole = {"hashes": {"grader": "g", "domains": {"mock": parts}, "tasks": {"mock": {"t0": "4"}}}}
        runs = [run_of(name, tasks_of("p"), info=info) for name, info in (("a", None), ("b", whole), ("c", None))]
        unknown = [line for line in ManyRuns(runs).warnings() if "unknown" in line]
        assert unknown == [
            "it is unknown whether tasks, policy, tools, database and grading are the same: not recorded in a, c"
        ]


class TestPages:
    def many(self) -> ManyRuns:
        return ManyRuns([run_of("a|<b>", tasks_of(*"p" * 12)), run_of("two", tasks_of(*"f" * 12))])

    def test_text_is_aligned(self) -> None:
        lines = many_text(self.many(), 200)
        assert lines[2].index("trials") + len("trials") == lines[3].index("12") + 2

    @pytest.mark.parametrize("name", ["forgets", "a-name-of-a-run-" * 3])
    def test_a_table_that_is_too_wide_continues_cells_on_the_next_line(self, name: str) -> None:
        many = ManyRuns([run_of("rules", tasks_of(*"p" * 12)), run_of(name, tasks_of(*"f" * 12))])
        wide, narrow = many_text(many, 1000), many_text(many, 80)
        assert max(map(len, wide)) > 90
        assert max(map(len, narrow)) <= 80
        # No word is lost, and none is cut apart but in names of runs.
        words = ["change", "(Holm)", "interval", "significant", "loss", "-1.000", "0.000"]
        assert all(any(word in line.split() for line in narrow) for word in words)
        assert "".join("".join(narrow).split()).count("-1.000") == "".join(wide).count("-1.000")

    def test_markdown_has_no_markup_of_names(self) -> None:
        assert "a\\|&lt;b&gt;" in many_markdown(self.many())

    def test_latex_has_no_markup_of_names(self) -> None:
        many = ManyRuns([run_of("a_b & 50% {x}", tasks_of(*"p" * 12)), run_of("\\two^", tasks_of(*"f" * 12))])
        page = many_latex(many)
        assert r"a\_b \& 50\% \{x\} & 12 & 0 & 1.000" in page
        assert r"\textbackslash{}two\textasciicircum{} & " in page
        assert r"run & trials & errors & pass$^{1}$ & 95 \% interval \\" in page
        assert "& $-$1.000 & $-$1.000 to $-$0." in page and "& $<$ 0.001 &" in page
        assert page.count(r"\begin{tabular}") == page.count(r"\end{tabular}") == 2

    def test_html_has_no_markup_of_names(self) -> None:
        page = many_html(self.many(), "<title>")
        assert "a|&lt;b&gt;" in page and "<b>" not in page and "<script" not in page
        assert '<tr class="loss">' in page


@pytest.fixture
def runs(tmp_path: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for name, letter in (("a", "p"), ("b", "f"), ("c", "p")):
        write_records(tmp_path / ".tau" / "runs" / name, run_of(name, tasks_of(*letter * 10)).records)


@pytest.mark.usefixtures("runs")
class TestCommand:
    def test_three_runs_are_a_table(self, capsys: pytest.CaptureFixture[str]) -> None:
        assert main(["compare", "a", "b", "c"]) == 0
        out = capsys.readouterr().out
        assert "3 runs on 10 tasks with a verdict in all, paired by task" in out
        assert "p (Holm): corrected for 2 comparisons by Holm's method (1979)" in " ".join(out.split())

    def test_fail_on_regression(self, capsys: pytest.CaptureFixture[str]) -> None:
        assert main(["compare", "a", "b", "c", "--fail-on", "regression"]) == 1
        assert main(["compare", "b", "a", "c", "--fail-on", "regression"]) == 0
        capsys.readouterr()

    def test_json_has_every_number(self, capsys: pytest.CaptureFixture[str]) -> None:
        assert main(["compare", "a", "b", "--format", "json"]) == 0
        found = json.loads(capsys.readouterr().out)
        assert found["correction"] == "holm"
        assert found["comparisons"][0]["difference"] == -1.0
        assert {"p", "p_holm", "interval", "minimum_detectable_loss"} <= found["comparisons"][0].keys()

    @pytest.mark.parametrize(
        ("kind", "beginning"),
        [("markdown", "2 runs"), ("latex", "% 2 runs"), ("html", "<!doctype html>"), ("text", "2 runs")],
    )
    def test_pages_are_written_to_a_file(self, tmp_path: Any, kind: str, beginning: str) -> None:
        assert main(["compare", "a", "c", "--format", kind, "-o", "page"]) == 0
        assert (tmp_path / "page").read_text().startswith(beginning)

    def test_the_page_is_opened_when_asked(
        self, tmp_path: Any, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
    ) -> None:
        opened: list[str] = []
        monkeypatch.setattr("webbrowser.open", opened.append)
        assert main(["compare", "a", "b", "--open"]) == 2
        assert "--open shows the page: expected --format html -o FILE with it" in capsys.readouterr().err
        assert main(["compare", "a", "b", "--format", "html", "-o", "page.html", "--open"]) == 0
        assert opened == [(tmp_path / "page.html").resolve().as_uri()]

    @pytest.mark.parametrize(
        ("suffix", "beginning"),
        [
            ("png", b"\x89PNG"),
            pytest.param("svg", b"<?xml", marks=pytest.mark.exhaustive),
            pytest.param("pdf", b"%PDF", marks=pytest.mark.exhaustive),
        ],
    )
    def test_a_figure_is_drawn(self, tmp_path: Any, suffix: str, beginning: bytes) -> None:
        pytest.importorskip("matplotlib")
        assert main(["compare", "a", "b", "c", "--figure", f"f.{suffix}"]) == 0
        drawn = (tmp_path / f"f.{suffix}").read_bytes()
        assert drawn.startswith(beginning)
        assert main(["compare", "a", "b", "c", "--figure", f"f.{suffix}"]) == 0
        assert (tmp_path / f"f.{suffix}").read_bytes() == drawn

    def test_a_figure_names_domains_runs_and_k(self, tmp_path: Any) -> None:
        pytest.importorskip("matplotlib")
        assert main(["compare", "a", "b", "--figure", "f.svg"]) == 0
        drawn = (tmp_path / "f.svg").read_text()
        assert all(f">{text}</text>" in drawn for text in ("mock", "a", "b", "k", "pass^k", "1"))

    def test_long_names_of_runs_are_one_below_the_other_in_a_figure(self, tmp_path: Any) -> None:
        pytest.importorskip("matplotlib")
        names = [f"20260101-10000{number}-4711-a-long-name" for number in (1, 2)]
        runs = tmp_path / ".tau" / "runs"
        for name, run in zip(names, "ab", strict=True):
            (runs / run).rename(runs / name)
        assert main(["compare", *names, "--figure", "f.svg"]) == 0
        drawn = (tmp_path / "f.svg").read_text()
        places = [re.findall(rf'x="([\d.]+)" y="([\d.]+)"[^>]*>{name}<', drawn)[0] for name in names]
        assert places[0][0] == places[1][0]
        assert float(places[0][1]) < float(places[1][1])

    def test_a_figure_of_another_kind_is_refused_before_a_run_is_read(self, capsys: pytest.CaptureFixture[str]) -> None:
        assert main(["compare", "missing", "b", "--figure", "f.gif"]) == 2
        assert "--figure f.gif: expected a name that ends with .svg, .png, .pdf" in capsys.readouterr().err

    def test_a_figure_without_matplotlib_names_the_extra(
        self, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
    ) -> None:
        monkeypatch.setitem(sys.modules, "matplotlib", None)
        monkeypatch.setitem(sys.modules, "matplotlib.figure", None)
        assert main(["compare", "a", "b", "--figure", "f.svg"]) == 2
        assert "pytest-tau[figures]" in capsys.readouterr().err

    def test_a_run_named_twice_is_refused(self, capsys: pytest.CaptureFixture[str]) -> None:
        assert main(["compare", "a", "b", "a"]) == 2
        assert "is named twice: expected different runs" in capsys.readouterr().err


class TestDoubts:
    """What leaves a comparison undecided, whatever its p-value is."""

    def test_a_run_that_has_lost_more_trials_is_not_decided_and_others_are(self) -> None:
        first, other = run_of("a", tasks_of(*["pp"] * 20)), run_of("c", tasks_of(*["ff"] * 20))
        many = ManyRuns([first, run_of("b", tasks_of(*["fe"] * 20)), other])
        assert [each.verdict for each in many.contrasts] == ["not decided", "significant loss"]
        assert many.fails
        (why,) = many.undecided
        assert why.startswith("b against a: not decided: 0 of 40 trials before and 20 of 40 trials after were lost")
        comparisons = many.as_dict()["comparisons"]
        assert comparisons[0]["undecided"].startswith("0 of 40 trials before")
        assert (comparisons[1]["undecided"], comparisons[1]["clusters"]) == (None, None)
        assert "20 of 40 trials after were lost" in many_markdown(many)
        assert "20 of 40 trials after were lost" in many_html(many, "Runs")

    def test_clusters_are_named_in_every_format(self) -> None:
        def clustered(run: RunRecords) -> RunRecords:
            labelled = (each.model_copy(update={"cluster": f"c{int(each.task_id[1:]) % 3}"}) for each in run.records)
            return run._replace(records=[*labelled])

        many = ManyRuns(
            [clustered(run_of(name, tasks_of(*letter * 12))) for name, letter in zip("ab", "pf", strict=True)]
        )
        (comparison,) = many.as_dict()["comparisons"]
        assert (comparison["clusters"], comparison["interval"], comparison["verdict"]) == (3, None, "not decided")
        assert many.rows[0].interval == pytest.approx((0.438, 1.0), abs=0.001)
        for page in ("\n".join(many_text(many, 200)), many_markdown(many), many_html(many, "Runs")):
            assert "12 tasks in 3 clusters" in page
            assert "too few clusters" in page
        assert many.undecided == [
            "b against a: not decided: 3 clusters passed before, and a loss on fewer than 5 is never significant"
        ]
