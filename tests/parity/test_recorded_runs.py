"""Runs of real models that people published: regraded, they get the checks and the rewards that they got."""

from __future__ import annotations

import asyncio
import json
from typing import TYPE_CHECKING, Any

import pytest

from pytest_tau.domains import domain_names, load_domain
from pytest_tau.evaluation import STRICT
from pytest_tau.models import STOPS
from pytest_tau.regrade.regrade import RegradeSettings, regrade_file

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from pytest_tau.environment import Domain
    from pytest_tau.regrade.result import FileReport, Regraded

    Regrade = Callable[..., FileReport]

pytestmark = pytest.mark.parity

#: Simulations of each τ²-bench file, all of which the reference regrades to their stored reward.
TAU2 = {
    "airline_gpt-4.1_sft": 20,
    "airline_gpt-4.1": 20,
    "airline_azure_full": 50,
    "airline_qwen2.5-7b": 50,
    "airline_whissle": 50,
    "airline_claude-opus-4.6_button": 50,
    "retail_gpt-4.1_sft": 40,
    "retail_gpt-4.1": 40,
    "retail_one": 1,
    "telecom_gpt-4o": 20,
    "telecom_gpt-4.1_sft": 40,
    "telecom_gpt-4.1_sft_solo": 40,
    "telecom_gpt-4.1_solo_4trials": 20,
    "telecom_adversarial_one": 1,
    "mock_ten": 10,
    "mock_one": 1,
}
#: Trials of each τ-bench file, and how many of them failed before there was a conversation.
TAU1 = {
    "tau1_airline_gpt-4o_4trials": (200, 0),
    "tau1_airline_grok-4-fast_react": (50, 0),
    "tau1_airline_grok-4-fast_tools": (99, 1),
    "tau1_retail_grok-4-fast_tools": (115, 0),
}
#: Where τ²-bench's tools differ from τ-bench's: docs/results.md.
CHANGED_SINCE_TAU1 = {("tau1_retail_grok-4-fast_tools", task) for task in ("97", "98")}


class OfficialDomains:
    """The bundled domains, with the official data."""

    def __init__(self, data: Path) -> None:
        self._data = data

    def names(self) -> list[str]:
        return domain_names()

    def load(self, name: str, run: object = None) -> Domain:
        return load_domain(name, self._data)


@pytest.fixture(scope="module")
def regrade(shared: Path, official_data: Path) -> Regrade:
    """Regrades one of the recorded files on the official data; each is regraded once."""
    done: dict[Any, FileReport] = {}

    def run(name: str, **options: Any) -> FileReport:
        file = shared / "runs" / f"{name}.json.gz"
        domain = name.removeprefix("tau1_").partition("_")[0]
        if not file.is_file():
            pytest.skip(f"needs {file}")
        if domain not in domain_names():
            pytest.skip(f"needs the domain {domain}")
        key = (name, *options)
        if key not in done:
            done[key] = asyncio.run(regrade_file(file, RegradeSettings(**options), OfficialDomains(official_data)))
        return done[key]

    return run


def checks(result: Regraded) -> dict[str, Any]:
    """A verdict in the form of ``runs/expected``."""
    info = result.fresh
    found = {
        "id": result.id,
        "task_id": result.task_id,
        "trial": result.trial,
        "termination_reason": result.termination_reason,
        "stored_reward": result.stored.reward if result.stored else None,
        "basis": info.reward_basis,
        "reward_without_judge": info.reward,
    }
    if result.termination_reason not in STOPS:  # the reference checks nothing then
        return found
    return found | {
        "db_match": info.db_check.db_match if info.db_check else None,
        "env_assertions": [check.met for check in info.env_assertions or []],
        "actions": [check.action_match for check in info.action_checks or []],
        "communicate": [check.met for check in info.communicate_checks or []],
        "judge": result.without_judge,
    }


@pytest.mark.parametrize("name", TAU2)
def test_every_check_is_as_the_reference_finds_it(regrade: Regrade, shared: Path, name: str) -> None:
    report = regrade(name)
    expected = json.loads((shared / "runs" / "expected" / f"{name}.json").read_text(encoding="utf-8"))
    assert report.unreadable == []
    assert len(report.results) == len(expected) == TAU2[name]
    for result, wanted in zip(report.results, expected, strict=True):
        # The oldest files leave the trial out.
        assert checks(result) == wanted | {"trial": wanted["trial"] or 0}, result.entry


@pytest.mark.parametrize("name", TAU2)
def test_every_reward_is_the_stored_one(regrade: Regrade, name: str) -> None:
    report = regrade(name)
    assert report.differing == []
    assert report.agreeing == TAU2[name]
    stored, fresh = report.rates()
    assert stored == fresh


@pytest.mark.parametrize("name", TAU2)
def test_every_call_gives_what_it_gave(regrade: Regrade, name: str) -> None:
    """Up to the address that pydantic puts below its errors."""
    differing = [(r, d) for r in regrade(name).results for d in r.replay_differences]
    assert [str(difference) for _, difference in differing if "errors.pydantic.dev" not in difference.text] == []
    assert bool(differing) is (name == "airline_whissle")


@pytest.mark.parametrize("name", TAU1)
def test_trials_of_tau_bench_get_their_stored_rewards(regrade: Regrade, name: str) -> None:
    report = regrade(name)
    trials, failed = TAU1[name]
    assert (len(report.results), len(report.unreadable)) == (trials, failed), report.unreadable
    differing = {(name, result.task_id) for result in report.differing}
    assert differing == {known for known in CHANGED_SINCE_TAU1 if known[0] == name}
    assert report.agreeing == trials - len(differing)


def test_the_two_that_differ_differ_by_a_call_that_succeeds_now(regrade: Regrade) -> None:
    for result in regrade("tau1_retail_grok-4-fast_tools").differing:
        flipped = [difference for difference in result.replay_differences if difference.flipped]
        assert [difference.tool for difference in flipped] == ["modify_pending_order_address"]
        assert "failed with 'Error: non-pending order cannot be modified', now succeeds" in result.reasons[-1]


def test_the_strict_profile_names_its_rules(regrade: Regrade) -> None:
    """None of the verdicts on these runs hangs on an oddity."""
    names = [name for name in TAU2 if name.startswith("retail")]
    assert not [rule for name in names for r in regrade(name, grading=STRICT).results for rule in r.rules]
