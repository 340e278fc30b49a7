"""What has changed since an earlier run, the tasks that have to do with it, and the rate over a part of all tasks."""

from __future__ import annotations

import random
from itertools import combinations
from math import sqrt
from typing import Any

import pytest

from pytest_tau.analysis.statistics import wilson
from pytest_tau.capabilities.changed.touched import StoredFacts, domain_changes
from pytest_tau.capabilities.changed.weighted import WeightedTask, weighted_rate
from pytest_tau.domains import load_domain
from pytest_tau.models import parse_task
from pytest_tau.policy.sections import BEGINNING, policy_sections
from pytest_tau.runner import SimulationSettings
from pytest_tau.runs.fingerprints import domain_parts

POLICY = "Be kind.\n\n# Refunds\n\nUse `refund_order` at once.\n\n# Manners\n\nSay hello.\n"


def task(task_id: str = "t", *actions: str, **fields: Any) -> Any:
    made = [{"action_id": str(number), "name": name, "arguments": {}} for number, name in enumerate(actions)]
    return parse_task(
        {
            "id": task_id,
            "user_scenario": {"instructions": "Ask."},
            "evaluation_criteria": {"actions": made},
            **fields,
        }
    )


def hashes(**changes: Any) -> dict[str, Any]:
    """The hashes of a run over a domain with two tools, two sections and two documents."""
    sections = policy_sections(POLICY)
    parts = {
        "tools": {"refund_order": "1", "get_order": "2"},
        "code": "c",
        "policy": sections,
        "documents": {"a": "1", "b": "2"},
    }
    domain = {"policy": "p", "tools": "t", "database": "d"}
    domain |= changes.pop("domain", {})
    return {
        "domains": {"shop": domain},
        "tasks": {"shop": changes.pop("tasks", {"t": "1"})},
        "parts": {"shop": parts | changes},
    }


def reasons(found: Any, facts: StoredFacts | None = None, policy: str = POLICY, then: Any = None) -> list[str]:
    changes = domain_changes("shop", then or hashes(), found, policy)
    return changes.reasons(found.get("task", task("t", "refund_order")), facts or StoredFacts(finished=True))


class TestParts:
    def test_sections_are_those_of_headings(self) -> None:
        assert policy_sections(POLICY) == {
            BEGINNING: "Be kind.",
            "Refunds": "# Refunds Use `refund_order` at once.",
            "Manners": "# Manners Say hello.",
        }

    def test_sections_of_one_name_are_numbered(self) -> None:
        assert [*policy_sections("# A\nx\n# A\ny")] == ["A", "A (2)"]

    def test_a_policy_without_headings_is_one_section(self) -> None:
        assert policy_sections("Be kind.") == {BEGINNING: "Be kind."}
        assert policy_sections("") == {}

    @pytest.mark.parametrize("name", ["airline", "retail", "telecom", "mock"])
    def test_parts_of_a_domain_are_stable(self, name: str) -> None:
        settings = SimulationSettings()
        found = domain_parts(load_domain(name), settings)
        assert found == domain_parts(load_domain(name), settings)
        environment = load_domain(name).environment()
        assert {tool.name for tool in environment.tools()} <= found["tools"].keys()
        assert found["policy"] and found["code"]

    def test_documents_have_a_fingerprint_each(self) -> None:
        domain = load_domain("banking_knowledge")
        found = domain_parts(domain, SimulationSettings())
        assert domain.knowledge is not None
        assert found["documents"].keys() == domain.knowledge.digests.keys()
        assert len(found["documents"]) > 50


DONE = StoredFacts(finished=True)
CALLED = StoredFacts(finished=True, calls={"get_order"})
HAS_READ = StoredFacts(finished=True, documents={"a"})
SEARCHED = StoredFacts(finished=True, searched=True)


class TestTouched:
    @pytest.mark.parametrize(
        ("changed", "facts", "expected"),
        [
            ({}, DONE, []),
            ({"tools": {"refund_order": "9", "get_order": "2"}}, DONE, ["changed tool refund_order"]),
            ({"tools": {"get_order": "2"}}, DONE, ["removed tool refund_order"]),
            ({"tools": {"refund_order": "1", "get_order": "9"}}, DONE, []),
            ({"tools": {"refund_order": "1", "get_order": "9"}}, CALLED, ["changed tool get_order"]),
            ({"documents": {"a": "9", "b": "2"}}, DONE, []),
            ({"documents": {"a": "9", "b": "2"}}, HAS_READ, ["changed document a"]),
            ({"documents": {"a": "1", "b": "2", "c": "3"}}, DONE, []),
            ({"documents": {"a": "1", "b": "2", "c": "3"}}, SEARCHED, ["new document c"]),
            ({"domain": {"database": "other"}}, DONE, ["the database"]),
            ({"code": "other"}, DONE, ["code that the tools share"]),
            ({"tasks": {"t": "2"}}, DONE, ["the task has changed"]),
            ({}, StoredFacts(), ["no verdict in the earlier run"]),
        ],
        ids=[
            *("nothing", "tool-of-the-reference", "removed-tool", "tool-not-called", "tool-called"),
            *("document-not-read", "document-read", "new-document", "new-document-for-a-search"),
            *("database", "shared-code", "task", "no-verdict"),
        ],
    )
    def test_parts(self, changed: Any, facts: StoredFacts, expected: list[str]) -> None:
        assert reasons(hashes(**changed), facts) == expected

    @pytest.mark.parametrize(
        ("policy", "reason"),
        [
            (POLICY.replace("at once", "within a day"), "section 'Refunds' of the policy"),
            (POLICY.replace("Use `refund_order` at", "Orders are refunded at"), "section 'Refunds' of the policy"),
            (POLICY.replace("hello", "goodbye"), "changed section 'Manners' of the policy, which names no tool"),
            (POLICY.partition("# Manners")[0], "removed section 'Manners' of the policy, which names no tool"),
        ],
        ids=["names-a-tool", "words-of-a-tool", "names-no-tool", "removed"],
    )
    def test_sections(self, policy: str, reason: str) -> None:
        assert reasons(hashes(policy=policy_sections(policy)), policy=policy) == [reason]

    def test_a_task_of_which_nothing_is_stored_has_no_verdict(self) -> None:
        changes = domain_changes("shop", hashes(), hashes(), POLICY)
        assert changes.reasons(task(), None) == ["no verdict in the earlier run"]

    def test_a_new_domain_is_run_as_a_whole(self) -> None:
        then = hashes()
        then["parts"] = {}
        assert reasons(hashes(), then=then) == ["the domain was not part of the earlier run"]


class TestWeightedRate:
    def test_over_all_draws_the_mean_is_the_rate_of_all_tasks(self) -> None:
        """Three tasks that are always run and six others, of which two are drawn: all 15 draws."""
        always, others = [1.0, 0.0, 0.5], [1.0, 1.0, 0.25, 0.0, 1.0, 0.5]
        found = []
        for drawn in combinations(others, 2):
            tasks = [WeightedTask(share, 1.0) for share in always] + [WeightedTask(share, 2 / 6) for share in drawn]
            rate = weighted_rate(tasks)
            assert rate is not None
            found.append(rate.value)
        assert sum(found) / len(found) == pytest.approx(sum(always + others) / 9)

    def test_with_equal_chances_it_is_the_mean(self) -> None:
        rate = weighted_rate([WeightedTask(share, 1.0) for share in (1.0, 0.0, 1.0, 1.0)])
        assert rate is not None and rate.value == 0.75 and rate.interval is not None
        assert 0.2 < rate.interval.low < 0.75 < rate.interval.high < 1

    def test_without_spread_the_interval_is_that_of_the_effective_number(self) -> None:
        """One task stands for ten: nine more equal ones would say more than it does."""
        few = weighted_rate([WeightedTask(1.0, 1.0)] * 9 + [WeightedTask(1.0, 0.1)])
        many = weighted_rate([WeightedTask(1.0, 1.0)] * 19)
        assert few is not None and many is not None and few.interval is not None and many.interval is not None
        assert few.value == many.value == 1.0
        assert few.interval.low < many.interval.low

    def test_drawn_tasks_that_all_pass_leave_the_others_open(self) -> None:
        """Six of 56 tasks were drawn, and passed: Wilson's interval of six begins at 0.61, and the whole one near it."""
        tasks = [WeightedTask(float(number < 27), 1.0) for number in range(30)] + [WeightedTask(1.0, 6 / 56)] * 6
        found = weighted_rate(tasks)
        assert found is not None and found.interval is not None
        low = [0.9 - wilson(0.9, 30).low, 1 - wilson(1.0, 6).low]
        reach = sqrt((30 / 86 * low[0]) ** 2 + (56 / 86 * low[1]) ** 2)
        assert found.interval.low == pytest.approx(found.value - reach)
        assert found.interval.low < 0.72

    def test_intervals_of_few_drawn_tasks_cover_the_rate(self) -> None:
        """30 tasks that are always run and 6 of 56 others, of an agent that passes nine of ten."""
        generator = random.Random(4)
        covered = 0
        for _ in range(400):
            tasks = [WeightedTask(float(generator.random() < 0.9), 1.0) for _ in range(30)]
            tasks += [WeightedTask(float(generator.random() < 0.9), 6 / 56) for _ in range(6)]
            rate = weighted_rate(tasks)
            assert rate is not None and rate.interval is not None
            covered += rate.interval.low <= 0.9 <= rate.interval.high
        assert covered / 400 >= 0.92

    def test_no_task_is_no_rate_and_one_is_no_interval(self) -> None:
        assert weighted_rate([]) is None
        found = weighted_rate([WeightedTask(1.0, 0.5)])
        assert found is not None and found.interval is None

    def test_intervals_cover_the_rate(self) -> None:
        """20 tasks that are always run and 20 of 80 others: at least 9 of 10 intervals have the true rate."""
        generator = random.Random(2)
        covered = 0
        for _ in range(400):
            tasks = [WeightedTask(float(generator.random() < 0.5), 1.0) for _ in range(20)]
            tasks += [WeightedTask(float(generator.random() < 0.8), 0.25) for _ in range(20)]
            rate = weighted_rate(tasks)
            assert rate is not None and rate.interval is not None
            covered += rate.interval.low <= 0.2 * 0.5 + 0.8 * 0.8 <= rate.interval.high
        assert 0.92 <= covered / 400 <= 0.99
