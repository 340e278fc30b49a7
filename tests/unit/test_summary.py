"""What trials come to: in numbers, at a terminal, on a page for a CI job."""

from __future__ import annotations

import re
from pathlib import Path
from unicodedata import category

import pytest
from trial_records import trial_record

from pytest_tau.analysis.statistics import pass_hat_k_interval
from pytest_tau.analysis.summary import summarise
from pytest_tau.models import ModelUsage
from pytest_tau.reports.markdown import annotation_lines, escaped, failing_tasks, markdown
from pytest_tau.reports.text import detail_lines
from pytest_tau.runs.groups import TaskId
from pytest_tau.text import distinct_lines, duration, money


def trial(task="a", number=0, outcome="passed", **facts):
    reason = "user_stop" if outcome != "error" else "infrastructure_error"
    return trial_record(task, number, outcome, **{"domain": "desk", "termination_reason": reason, **facts})


def trials(task, outcomes, **facts):
    words = {"p": "passed", "f": "failed", "e": "error"}
    return [trial(task, number, words[letter], **facts) for number, letter in enumerate(outcomes)]


def terminal_lines(records, **options):
    """The lines of the only domain."""
    floors, group_by = options.pop("floors", None), options.pop("group_by", ())
    (summary,) = summarise(records, floors=floors, group_by=group_by)
    return detail_lines(summary, **options)


def the_line(lines, label):
    """The text that stands behind a label, with the lines that it goes on in."""
    (start,) = [number for number, line in enumerate(lines) if line.startswith(f"  {label}  ")]
    text = lines[start][17:]
    for line in lines[start + 1 :]:
        if not line.startswith(" " * 17):
            break
        text += f" {line.strip()}"
    return text


class TestDistinctLines:
    """Names that are cut, and still differ."""

    def test_short_ones_stay(self):
        assert distinct_lines(["a", "b\nc"], 5) == ["a", "b c"]
        assert distinct_lines([], 5) == []

    def test_they_are_cut_at_the_end_if_they_differ_then(self):
        assert distinct_lines(["abcdefgh", "xyz"], 5) == ["abcd…", "xyz"]

    def test_else_in_the_middle(self):
        assert distinct_lines(["refund-gold", "refund-blue"], 7) == ["ref…old", "ref…lue"]

    def test_else_they_have_numbers(self):
        assert distinct_lines(["refund-a-gold", "refund-b-gold", "x"], 7) == ["refun…1", "refun…2", "x"]


#: Five tasks, eight trials, of each outcome some.
MIXED = [
    *trials("a", "pp"),
    *trials("b", "pf", failed_checks=("DB", "ACTION buy", "DB")),
    *trials("c", "f", stop_token="###TRANSFER###", failed_checks=("DB",)),
    *trials("d", "f", termination_reason="max_steps"),
    *trials("e", "pe", error="the provider is down\nfor long"),
]


class TestNumbers:
    """What trials come to."""

    def test_errors_are_excluded_from_the_rates_and_also_counted_as_failures(self):
        (summary,) = summarise([*trials("a", "ppe"), *trials("b", "pfe")])
        scores = summary.scores
        assert (scores.tasks, scores.trials, scores.passed, scores.failed, scores.errors) == (2, 6, 3, 1, 2)
        assert [(rate.k, rate.value) for rate in scores.rates] == [(1, 0.75), (2, 0.5)]
        assert [(rate.k, rate.value) for rate in scores.with_errors] == [
            (1, pytest.approx(0.5)),
            (2, pytest.approx(1 / 6)),
            (3, 0),
        ]

    def test_without_errors_there_is_one_convention(self):
        (summary,) = summarise(trials("a", "pf"))
        assert summary.scores.with_errors == ()

    def test_intervals_are_those_of_the_bootstrap_over_tasks(self):
        (summary,) = summarise([*trials("a", "pp"), *trials("b", "pf"), *trials("c", "ff")])
        results = [(2, 2), (2, 1), (2, 0)]
        assert [rate.interval for rate in summary.scores.rates] == [
            pass_hat_k_interval(results, 1),
            pass_hat_k_interval(results, 2),
        ]

    def test_of_many_trials_the_first_rates_and_the_last_have_intervals(self):
        (summary,) = summarise([*trials("a", "p" * 12), *trials("b", "f" * 12)])
        assert [rate.k for rate in summary.scores.rates if rate.interval] == [*range(1, 9), 12]
        assert len(summary.scores.rates) == 12

    def test_the_mean_reward_is_over_graded_trials(self):
        records = [trial(reward=1.0), trial("b", outcome="failed", reward=0.25), trial("c", outcome="error")]
        (summary,) = summarise(records)
        assert summary.scores.mean_reward == 0.625
        (nothing,) = summarise(trials("a", "e"))
        assert nothing.scores.mean_reward is None
        assert nothing.scores.rates == ()
        assert nothing.stats is None

    def test_endings_and_checks_are_counted_the_most_frequent_first(self):
        (summary,) = summarise(MIXED)
        assert summary.endings == (("user_stop", 5), ("###TRANSFER###", 1), ("max_steps", 1))
        assert summary.faults == (("infrastructure_error", 1),)
        assert summary.messages == (("the provider is down", 1),)

    def test_a_check_counts_once_a_trial(self):
        checks = ("ENV_ASSERTION seen", "ENV_ASSERTION seen", "DB")
        (summary,) = summarise(
            [trial(outcome="failed", failed_checks=checks), *trials("b", "f", failed_checks=("DB",))]
        )
        assert summary.unmet == (("DB", 2), ("ENV_ASSERTION seen", 1))

    def test_what_was_not_graded_has_not_ended_well(self):
        (summary,) = summarise([trial(outcome="error", termination_reason="user_stop", stop_token="###STOP###")])
        assert summary.faults == (("not graded", 1),)

    def test_a_traceback_ends_with_what_it_is(self):
        error = "Traceback (most recent call last):\n  …\nKeyError: 'x'"
        (summary,) = summarise([trial(outcome="error", termination_reason="unexpected_error", error=error)])
        assert summary.messages == (("KeyError: 'x'", 1),)

    def test_effort_is_of_graded_trials(self):
        records = [trial(number=n, turns=n, calls=4, failed_calls=1, duration=float(n)) for n in range(1, 5)]
        (summary,) = summarise([*records, trial(number=9, outcome="error", turns=100, duration=999.0)])
        stats = summary.stats
        assert (stats.means, stats.p50) == ({"turns": 2.5, "calls": 4, "failed_calls": 1}, 2.5)
        assert stats.p95 == pytest.approx(3.85)

    def test_usage_is_of_all_trials_and_roles(self):
        agent = ModelUsage(calls=2, prompt_tokens=100, completion_tokens=10, known_cost=0.5)
        user = ModelUsage(calls=1, prompt_tokens=50, completion_tokens=5, unpriced_calls=1)
        (summary,) = summarise(
            [trial(model_usage={"agent": agent}), trial("b", outcome="error", model_usage={"user": user})]
        )
        usage = summary.usage
        assert (usage.calls, usage.prompt_tokens, usage.completion_tokens) == (3, 150, 15)
        assert (usage.known_cost, usage.unpriced_calls) == (0.5, 1)
        assert summarise([trial()])[0].usage is None

    def test_domains_are_apart_and_sorted(self):
        found = summarise([trial(domain="shop"), trial(domain="desk", outcome="failed")])
        assert [(each.name, each.scores.passed) for each in found] == [("desk", 0), ("shop", 1)]

    def test_floor_covers_the_run_tasks_whose_floor_is_known(self):
        floors = {
            TaskId("desk", "", "a"): True,
            TaskId("desk", "", "b"): False,
            TaskId("desk", "", "other"): True,
            TaskId("shop", "", "c"): True,
        }
        (summary,) = summarise([*trials("a", "pf"), trial("b"), trial("c")], floors=floors)
        assert summary.floor == (1, 2)
        assert summary.floor.rate == 0.5
        assert summarise([trial()])[0].floor is None


class TestGroups:
    """Scores by what tasks have in common."""

    def test_numbers_are_sorted_as_such_and_no_value_comes_last(self):
        records = [trial(str(n), groups={"actions": str(n)}) for n in (10, 9, 0)]
        (summary,) = summarise([trial("x"), *records], group_by=["actions"])
        assert [group.name for group in summary.groups["actions"]] == ["0", "9", "10", "(none)"]

    def test_a_task_counts_under_each_of_its_tags(self):
        records = [*trials("a", "pf", groups={"tags": "new, hard"}), trial("b", groups={"tags": "hard"})]
        (summary,) = summarise(records, group_by=["tags"])
        hard, new = summary.groups["tags"]
        assert (hard.name, hard.tasks, hard.trials, hard.rates[0].value) == ("hard", 2, 3, 0.75)
        assert (new.name, new.tasks, new.trials) == ("new", 1, 2)

    def test_an_intent_with_a_comma_is_one(self):
        (summary,) = summarise([trial(groups={"intent": "returns, exchanges"})], group_by=["intent"])
        assert [group.name for group in summary.groups["intent"]] == ["returns, exchanges"]

    def test_the_table_is_aligned_and_has_errors_only_where_there_are_any(self):
        records = [*trials("a", "pf", groups={"intent": "refund"}), *trials("b", "pp", groups={"intent": "exchange"})]
        lines = terminal_lines(records, group_by=["intent", "persona"])
        assert lines[-4:] == [
            "  by intent  tasks  trials  pass^1  95 % interval  pass^2",
            "  exchange       1       2   1.000              -   1.000",
            "  refund         1       2   0.500              -   0.000",
            "  by persona: no task has one",
        ]
        with_error = terminal_lines(
            [*records, trial("c", outcome="error", groups={"intent": "refund"})], group_by=["intent"]
        )
        assert with_error[-3].endswith("  errors")
        assert [line.split()[-1] for line in with_error[-2:]] == ["0", "1"]
        only_errors = terminal_lines([trial(outcome="error", groups={"intent": "refund"})], group_by=["intent"])
        assert only_errors[-1].split() == ["refund", "1", "1", "-", "-", "1"]

    def test_verbose_shows_all_groups(self):
        records = [trial(str(n), groups={"intent": f"intent {n:02}"}) for n in range(20)]
        few, every = (terminal_lines(records, group_by=["intent"], verbosity=verbosity) for verbosity in (0, 1))
        assert few[-1] == "  and 8 more (-v shows them)"
        assert "  intent 11" in few[-2]
        assert every[-1].startswith("  intent 19")


class TestTerminal:
    """The lines below a domain's first."""

    def test_one_task_and_a_run_that_passed_need_none(self):
        assert terminal_lines([trial(outcome="failed", failed_checks=("DB",))]) == []
        assert (
            terminal_lines(
                [trial(str(n)) for n in range(50)], floors={TaskId("desk", "", str(n)): False for n in range(50)}
            )
            == []
        )

    def test_what_a_reader_wants_when_something_failed(self):
        lines = terminal_lines(MIXED, floors={TaskId("desk", "", name): name == "a" for name in "abcde"})
        assert the_line(lines, "no-op agent") == "pass^1 0.200 (1 of 5 tasks)"
        assert the_line(lines, "ended by") == "user_stop (5), ###TRANSFER### (1), max_steps (1)"
        assert the_line(lines, "errors") == "infrastructure_error (1)"
        assert the_line(lines, "95 % interval").startswith("pass^1 0.")
        assert (
            the_line(lines, "mean reward") == "0.571"
        )  # pass^1 is 0.5: tasks have equal weight, whatever their number of trials
        assert not any(line.startswith(("  with errors", "  errors said")) for line in lines)

    def test_with_v_everything(self):
        lines = terminal_lines(MIXED, verbosity=1)
        assert the_line(lines, "with errors") == "pass^1 0.400, pass^2 0.200, errors counted as failures"
        assert the_line(lines, "messages") == "the provider is down (1)"
        assert the_line(terminal_lines(trials("a", "pf"), verbosity=1), "mean reward") == "0.500"

    def test_with_q_nothing_not_even_groups(self):
        assert terminal_lines(MIXED, verbosity=-1, group_by=["intent"]) == []

    def test_task_that_passes_without_an_agent_is_always_reported(self):
        lines = terminal_lines([trial("a"), trial("b")], floors={TaskId("desk", "", "a"): True})
        assert lines == ["  no-op agent    pass^1 1.000 (1 of 1 task; unknown for 1 task)"]

    def test_mean_reward_is_shown_if_it_differs_from_pass_1(self):
        records = [*trials("a", "pppp"), trial("b", outcome="failed"), trial("c", outcome="failed", reward=0.5)]
        assert the_line(terminal_lines(records), "mean reward") == "0.750"

    def test_less_frequent_checks_are_counted_and_listed_with_v(self):
        records = [trial(str(n), outcome="failed", failed_checks=(f"ACTION tool_{n}",)) for n in range(8)]
        assert the_line(terminal_lines(records), "not met").endswith("ACTION tool_4 (1), 3 more")
        assert the_line(terminal_lines(records, verbosity=1), "not met").endswith("ACTION tool_7 (1)")

    @pytest.mark.parametrize("width", [40, 60, 80, 200])
    def test_lines_fit_and_parts_are_not_torn_apart(self, width):
        records = [trial(str(n), outcome="failed", failed_checks=(f"COMMUNICATE {n} or so",)) for n in range(30)]
        lines = terminal_lines(records, verbosity=1, width=width)
        assert max(map(len, lines)) <= max(width, 47)
        assert len(re.findall(r"COMMUNICATE \d+ or so \(1\)", "\n".join(lines))) == 30

    @pytest.mark.parametrize("width", [50, 65, 75])
    def test_tables_fit_too(self, width):
        records = [trial(str(n), groups={"intent": f"{'long ' * 20}{n}"}) for n in range(3)]
        lines = terminal_lines([*records, trial("x", outcome="error")], group_by=["intent"], width=width)
        assert max(map(len, lines)) <= width
        assert ("interval" in lines[-5]) == (width > 70)

    def test_model_usage_is_shown_per_trial(self):
        usage = {"agent": ModelUsage(calls=2, prompt_tokens=1000, completion_tokens=20, known_cost=0.5)}
        records = [
            trial(turns=3, calls=2, duration=2.0, model_usage=usage),
            trial("b", turns=4, duration=4.0, model_usage=usage),
        ]
        assert terminal_lines(records, width=100) == [
            "  a trial        3.5 turns, 1.0 calls, 1,020 tokens, $0.5000, duration p50 3.0 s, p95 3.9 s"
        ]

    def test_a_price_that_is_not_known_is_no_zero(self):
        free = {"agent": ModelUsage(calls=2, unpriced_calls=2)}
        assert "$" not in "".join(terminal_lines([trial(model_usage=free)]))
        assert the_line(terminal_lines([trial(model_usage=free)], verbosity=1), "models").endswith("cost unknown")
        some = {"agent": ModelUsage(calls=2, known_cost=1.5, unpriced_calls=1)}
        lines = terminal_lines([trial(model_usage=some)], verbosity=1)
        assert "at least $1.50" in the_line(lines, "a trial")
        assert the_line(lines, "models").endswith("$1.50 and 1 call with unknown price")

    def test_restored_trials_are_reported(self):
        assert the_line(terminal_lines([trial(restored=True), trial("b")]), "reused") == "1 trial of an earlier run"

    def test_nothing_that_a_terminal_obeys_gets_through(self):
        check = "COMMUNICATE \x1b[31mred\x07\r\nnext\u202e"
        text = "".join(terminal_lines([trial(str(n), outcome="failed", failed_checks=(check,)) for n in range(5)]))
        assert not [each for each in text if category(each).startswith("C")]
        assert r"COMMUNICATE \x1b[31mred\x07 next\u202e (5)" in text

    @pytest.mark.parametrize(
        ("amount", "text"), [(0, "$0.00"), (1234.5, "$1,234.50"), (0.02314, "$0.0231"), (0.0000421, "$4.2e-05")]
    )
    def test_dollars(self, amount, text):
        assert money(amount) == text

    @pytest.mark.parametrize(("seconds", "text"), [(0.25, "250 ms"), (12.34, "12.3 s"), (600, "10.0 min")])
    def test_seconds(self, seconds, text):
        assert duration(seconds) == text


class TestPage:
    """The summary of a CI job."""

    def test_a_domain_with_its_rates_its_floor_and_its_failing_tasks(self):
        floors = {TaskId("desk", "", name): name == "a" for name in "abcde"}
        page = markdown(summarise(MIXED, floors=floors), failing_tasks(MIXED))
        lines = page.splitlines()
        assert lines[:3] == ["### desk", "", "5 tasks, 8 trials: 4 passed, 3 failed, 1 error"]
        assert "| errors excluded | 0.500 | 0.200 to 0.400 |" in lines
        assert "| errors counted as failures | 0.400 | 0.200 |" in lines
        assert "| no-op agent: 1 of 5 tasks | 0.200 | 0.200 |" in lines
        assert "<details><summary>4 tasks did not pass every time</summary>" in lines
        assert "| b | 1 of 2 | DB; ACTION buy |" in lines
        assert "| d | 0 of 1 | max_steps |" in lines
        assert "| e | 1 of 2 | infrastructure_error: the provider is down |" in lines
        assert not any("| a |" in line for line in lines)

    def test_a_run_that_passed_folds_nothing(self):
        page = markdown(summarise([trial()]), failing_tasks([trial()]))
        assert "<details>" not in page
        assert "| rate | 1.000 |" in page

    def test_groups_are_tables(self):
        records = [trial(groups={"intent": "a|b"})]
        page = markdown(summarise(records, group_by=["intent", "persona"]), [])
        assert "| a\\|b | 1 | 1 | 1.000 | - | 0 |" in page
        assert "persona" not in page

    @pytest.mark.parametrize(
        ("text", "written"),
        [
            ("a|b\nc", "a\\|b c"),
            ("<script>&amp;", "&lt;script&gt;&amp;amp;"),
            ("`x` *b* [l](u) ~d~ #1 $m$", "\\`x\\` \\*b\\* \\[l\\](u) \\~d\\~ \\#&ZeroWidthSpace;1 \\$m\\$"),
            (
                "@someone https://evil.example www.evil.example",
                "@&ZeroWidthSpace;someone https\\://evil.example www\\.evil.example",
            ),
            (
                "own/repo#12 GH-12 gh-3 !4",
                "own/repo\\#&ZeroWidthSpace;12 GH-&ZeroWidthSpace;12 gh-&ZeroWidthSpace;3 !&ZeroWidthSpace;4",
            ),
            ("a@b.example order #W7 !", "a@b.example order \\#W7 !"),
            ("_soft_ user_stop \\", "\\_soft\\_ user_stop \\\\"),
            ("\x1b[0mx\x00", r"\\x1b\[0mx\\x00"),
        ],
    )
    def test_text_means_itself(self, text, written):
        assert escaped(text) == written

    @pytest.mark.exhaustive
    def test_ten_thousand_failing_tasks_stay_far_below_what_github_takes(self):
        long = "x" * 5000
        records = [trial(f"{long}{n}", outcome="failed", failed_checks=(long,) * 3) for n in range(2000)]
        page = markdown(summarise(records), failing_tasks(records))
        assert len(page.encode()) < 200_000
        assert "| and 1,800 more tasks |" in page


class TestAnnotations:
    """Workflow commands of GitHub."""

    def test_a_failing_task_with_its_file(self, tmp_path):
        (tmp_path / "sub" / "tests").mkdir(parents=True)
        (tmp_path / "sub" / "tests" / "t.tau.json").write_text("[]")
        records = trials(
            "a,b: 50%", "pf", failed_checks=("COMMUNICATE 100%\nsure",), test="tests/t.tau.json::a[trial-1]"
        )
        (line,) = annotation_lines(failing_tasks(records), tmp_path / "sub", tmp_path)
        expected = "::error file=sub/tests/t.tau.json,title=desk%3A a%2Cb%3A 50%25::1 of 2 trials passed: "
        assert line == f"{expected}COMMUNICATE 100%25 sure"

    @pytest.mark.parametrize("test", ["", "telecom::a[trial-0]", "../elsewhere.json::a"])
    def test_no_annotation_without_a_file_of_the_checkout(self, tmp_path, test):
        (tmp_path / "root").mkdir()
        (tmp_path / "elsewhere.json").write_text("[]")
        failing = failing_tasks([trial(outcome="failed", test=test)])
        (line,) = annotation_lines(failing, tmp_path / "root", tmp_path / "root")
        assert line.startswith("::error title=desk%3A a::")

    def test_no_more_than_github_shows(self):
        failing = failing_tasks([trial(str(n), outcome="failed") for n in range(25)])
        lines = annotation_lines(failing, Path("/"), Path("/"))
        assert len(lines) == 10
        assert lines[-1] == "::error title=pytest-tau::and 16 more failing tasks"
        assert len(annotation_lines(failing[:10], Path("/"), Path("/"))) == 10

    def test_the_message_cannot_begin_another_command(self):
        failing = failing_tasks([trial("x\n::set-env name=A::b", outcome="failed", error="e\r\n::stop-commands::t")])
        (line,) = annotation_lines(failing, Path("/"), Path("/"))
        assert "\n" not in line
        assert "\r" not in line
