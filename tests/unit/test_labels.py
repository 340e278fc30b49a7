"""Labels by people: the file, the questions at the terminal, agreement, and a judge's rate corrected for its errors."""

from __future__ import annotations

import csv
import io
import random
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from pytest_tau.capabilities.labels.agreement import Agreement, Rate, corrected_rate
from pytest_tau.capabilities.labels.table import Subject, read_labels
from pytest_tau.errors import ConfigurationError

from .test_report import run_folder

if TYPE_CHECKING:
    from .commands import Tau

HEAD = "simulation,kind,item,label"


# The file


def test_labels_are_read_by_what_they_are_about(tmp_path: Path) -> None:
    file = tmp_path / "labels.csv"
    file.write_text(f'{HEAD},by\ns1,party,,user,kim\ns1,statement,"It is, so.",not met,kim\n', encoding="utf-8-sig")
    labels = read_labels(file)
    assert {subject: label.label for subject, label in labels.items()} == {
        Subject("s1", "party"): "user",
        Subject("s1", "statement", "It is, so."): "not met",
    }


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("task,who\nt,agent\n", "labels.csv: the columns simulation, kind, item, label are missing; it has task, who"),
        ("", "labels.csv: the columns simulation, kind, item, label are missing; it has none"),
        (f"{HEAD}\ns1,fault,,user\n", "labels.csv:2: kind: expected one of party, statement, breach, got 'fault'"),
        (f"{HEAD}\ns1,statement,x,yes\n", "labels.csv:2: label: expected one of met, not met, got 'yes'"),
        (f"{HEAD}\ns1,statement,,met\n", "labels.csv:2: item: expected a text, got none"),
        (f"{HEAD}\n,party,,user\n", "labels.csv:2: simulation: expected a text, got none"),
        (f"{HEAD}\ns1,party,,user\ns1,party,,agent\n", "labels.csv:3: 'agent', but "),
        (f"{HEAD}\ns1,party\n", "labels.csv:2: label: expected one of agent, user, task, harness, undecided, got ''"),
        (f'{HEAD}\ns1,"party', "labels.csv:1: expected CSV in UTF-8"),
    ],
)
def test_a_file_that_cannot_be_used_names_the_line_and_what_is_expected(
    tmp_path: Path, text: str, problem: str
) -> None:
    file = tmp_path / "labels.csv"
    file.write_text(text, encoding="utf-8")
    with pytest.raises(ConfigurationError) as raised:
        read_labels(file)
    assert problem in str(raised.value)


# Statistics


def test_kappa_is_the_agreement_beyond_chance() -> None:
    # Of 50 cases, 35 agree; by chance 25 would.
    pairs = [("yes", "yes")] * 20 + [("yes", "no")] * 5 + [("no", "yes")] * 10 + [("no", "no")] * 15
    found = Agreement.of(pairs)
    assert found.agreement.value == pytest.approx(0.7)
    assert found.kappa == pytest.approx(0.4)
    assert found.sensitivity("yes").value == pytest.approx(20 / 25)
    assert found.specificity("yes").value == pytest.approx(15 / 25)


@pytest.mark.parametrize("pairs", [[], [("yes", "yes")] * 3])
def test_kappa_is_unknown_if_there_is_nothing_to_tell_apart(pairs: list[tuple[str, str]]) -> None:
    assert Agreement.of(pairs).kappa is None


def test_a_rate_is_corrected_for_the_errors_of_its_judge() -> None:
    # Of 1,000 statements of which people find 60 % met, such a judge finds 0.6 x 0.9 + 0.4 x 0.2 = 62 % met.
    found = corrected_rate(620, 1000, Rate.among(90, 100), Rate.among(80, 100))
    assert found is not None and found.interval is not None
    assert found.value == pytest.approx(0.6)
    assert found.interval.low < 0.55 and found.interval.high > 0.65


@pytest.mark.parametrize(
    "errors", [(Rate.among(0, 0), Rate.among(8, 10)), (Rate.among(5, 10), Rate.among(5, 10))], ids=["unknown", "chance"]
)
def test_a_rate_cannot_be_corrected_without_known_errors(errors: tuple[Rate, Rate]) -> None:
    assert corrected_rate(6, 10, *errors) is None


def test_the_interval_of_a_corrected_rate_covers_the_true_one() -> None:
    draw = random.Random(5)

    def number(of: int, share: float) -> int:
        return sum(draw.random() < share for _ in range(of))

    covered, runs = 0, 400
    for _ in range(runs):
        met = number(300, 0.7 * 0.85 + 0.3 * 0.25)
        found = corrected_rate(met, 300, Rate.among(number(40, 0.85), 40), Rate.among(number(30, 0.75), 30))
        assert found is not None and found.interval is not None
        covered += found.interval.low <= 0.7 <= found.interval.high
    assert covered >= 0.93 * runs


# Commands

STATEMENT = "The agent says that the order is cancelled."


def entry(number: int, *, met: bool) -> dict[str, Any]:
    """A stored trial with a judged statement; a breach in the first one, and a party at fault if it failed."""
    checks = [{"nl_assertion": STATEMENT, "met": met, "justification": "-"}]
    breach = {"rule": "confirmation", "message_idx": 1, "call": None, "evidence": "no yes before it"}
    return {
        "test": f"t{number}",
        "domain": "mock",
        "id": f"s{number}",
        "task_id": "t",
        "trial": number,
        "termination_reason": "user_stop",
        "messages": [{"role": "user", "content": "Cancel it."}, {"role": "assistant", "content": "Done."}],
        "reward_info": {"reward": float(met), "nl_assertions": checks},
        "conditions": {"models": {"judge": {"name": "heron"}}},
        "info": None if met else {"blame": {"party": "agent"}},
        "facts": {"policy_rules": {"checked": ["confirmation"], "breaches": [breach] if number == 0 else []}},
    }


@pytest.fixture
def folder(tau: Tau) -> Path:
    """The folder of a run with four trials, of which two pass."""
    found = Path(".tau", "runs", "a")
    run_folder(found, *(entry(number, met=number < 2) for number in range(4)))
    return found


def label(folder: Path, *rows: tuple[str, str, str, str]) -> None:
    text = io.StringIO()
    csv.writer(text).writerows([HEAD.split(","), *rows])
    (folder / "labels.csv").write_text(text.getvalue(), encoding="utf-8")


def test_questions_are_asked_and_answers_are_written_at_once(
    tau: Tau, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sys.stdin", io.StringIO("met\n9\n2\n\n1\nq\n"))
    ran = tau("label")
    assert ran.status == 0
    text = " ".join(ran.out.split())
    assert f"1 of 7: Met? {STATEMENT}" in text
    assert "2 of 7: Is it right that the rule confirmation was broken in message 1: no yes before it?" in text
    assert "agent Done." in text
    assert "the tool says" not in text
    with (folder / "labels.csv").open(newline="") as file:
        rows = [(row["simulation"], row["kind"], row["item"], row["label"]) for row in csv.DictReader(file)]
    # The answer 9 is none of them, Enter skips, and q ends.
    assert rows == [
        ("s0", "statement", STATEMENT, "met"),
        ("s0", "breach", "confirmation@1", "wrong"),
        ("s2", "party", "", "agent"),
    ]
    monkeypatch.setattr("sys.stdin", io.StringIO(""))
    assert "1 of 4: Met?" in tau("label").out


def test_a_sample_of_one_kind_is_asked(tau: Tau, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.stdin", io.StringIO("1\n" * 9))
    ran = tau("label", "a", "--kind", "statement", "--sample", "2", "--show")
    assert "2 of 2: Met?" in ran.out and "(the tool says: " in ran.out
    assert ran.err.startswith("2 labels added to ")


def test_agreement_with_labels_is_shown_and_gated(tau: Tau, folder: Path) -> None:
    label(
        folder,
        *((f"s{number}", "statement", STATEMENT, "met" if number in (0, 1, 3) else "not met") for number in range(4)),
        ("s0", "breach", "confirmation@1", "wrong"),
        ("s2", "party", "", "user"),
        ("s9", "party", "", "user"),
    )
    ran = tau("agreement", "a", "--gate", "judge_kappa>=0.7")
    assert ran.status == 1
    text = " ".join(ran.out.split())
    for part in [
        "judge heron: 4 labels agreement 0.750 [0.301, 0.954], kappa 0.500",
        "met: sensitivity 0.667 [0.208, 0.939], specificity 1.000 [0.207, 1.000]",
        "of 4 statements, 0.500 are met by the judge, 0.750 [",
        "rule confirmation: 1 label right: 0.000 [0.000, 0.793]",
        "party at fault: 1 label",
        "differs: s2: people user, tool agent",
        "not used, as no trial of these runs has it: 1 label (",
        "gate judge_kappa>=0.7: missed, kappa 0.500",
    ]:
        assert part in text
    assert tau("agreement", "a", "--gate", "judge_kappa>=0.5").status == 0
    found = tau("agreement", "a", "--json").json
    assert found["judge_kappa"] == pytest.approx(0.5)
    assert [row["kind"] for row in found["agreement"]] == ["statement", "breach", "party"]


@pytest.mark.parametrize("gate", ["kappa>=0.7", "judge_kappa<=0.7", "judge_kappa>=seven", "judge_kappa>=1.2.3"])
def test_another_gate_is_refused(tau: Tau, folder: Path, gate: str) -> None:
    ran = tau("agreement", "a", "--gate", gate)
    assert ran.status == 2
    assert "--gate: expected judge_kappa>=VALUE, such as judge_kappa>=0.7" in ran.err


def test_runs_without_labels_are_told_where_they_are_expected(tau: Tau, folder: Path) -> None:
    ran = tau("agreement", "a")
    assert ran.status == 2 and "labels.csv" in ran.err
