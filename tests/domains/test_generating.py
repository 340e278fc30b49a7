"""Fresh tasks of airline and retail: that they are sound, new, reproducible by a seed, and of the requested difficulty."""

from __future__ import annotations

import importlib.util
import json
import re
import sys
from importlib.metadata import version
from itertools import islice
from typing import TYPE_CHECKING, Any, NamedTuple, cast

import pytest

from pytest_tau import load_domain, simulate
from pytest_tau.environment import Difficulty
from pytest_tau.errors import ConfigurationError
from pytest_tau_domains._kit.cli import task_files
from pytest_tau_domains._kit.faking import FAKER_VERSION
from pytest_tau_domains.airline.tasks import sampler as airline_sampler, verify as airline_verify
from pytest_tau_domains.retail.tasks import combine as retail_combine, verify as retail_verify

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from pytest_tau import Domain
    from pytest_tau.models import Task, UserScript
    from pytest_tau.models.tasks import Instructions

pytestmark = pytest.mark.exhaustive

HARD = Difficulty(requests=3, distractors=2)


class Generated(NamedTuple):
    """A domain, and what is known of its generated tasks.

    Attributes:
        domain: The domain.
        verify: Raises an error for a task that is not sound.
        most_requests: The most requests of a task.
        personas: The number of personas.
        subject: A pattern of the ids that matters are about.
    """

    domain: Domain
    verify: Callable[[Task, Any], None]
    most_requests: int
    personas: int
    subject: str

    def make(self, count: int, seed: int = 1, difficulty: Difficulty | None = None) -> list[Task]:
        assert self.domain.spec.generate
        return list(self.domain.spec.generate(count, seed, difficulty or Difficulty()))


@pytest.fixture(scope="module", params=["airline", "retail"])
def generated(request: pytest.FixtureRequest) -> Generated:
    domain = load_domain(request.param)
    if request.param == "airline":
        reservation = r"\b(?=(?:[A-Z]*\d){2}[A-Z]*\b)[A-Z0-9]{6}\b"
        return Generated(domain, airline_verify.verify, airline_sampler.MAX_REQUESTS, 6, reservation)
    return Generated(domain, retail_verify.verify, retail_combine.MAX_REQUESTS, 7, r"#W\d{7}")


@pytest.fixture(scope="module")
def easy(generated: Generated) -> list[Task]:
    return generated.make(150)


@pytest.fixture(scope="module")
def hard(generated: Generated) -> list[Task]:
    return generated.make(40, difficulty=HARD)


def script(task: Task) -> UserScript:
    assert task.user_scenario.script
    return task.user_scenario.script


def instructions_of(task: Task) -> Instructions:
    return cast("Instructions", task.user_scenario.instructions)


def test_seed_gives_the_same_tasks_and_a_larger_number_extends_them(generated: Generated, easy: list[Task]) -> None:
    assert generated.make(5) == easy[:5]
    assert generated.make(20, seed=2) != easy[:20]


def test_ids_are_unique_and_safe(generated: Generated, easy: list[Task], hard: list[Task]) -> None:
    for tasks in (easy, hard, generated.make(5, seed=10**30)):
        assert len({task.id for task in tasks}) == len(tasks)
        assert all(re.fullmatch(r"[A-Za-z0-9_.+-]{1,60}", task.id) for task in tasks)


def test_tasks_are_new(generated: Generated, easy: list[Task]) -> None:
    bundled = {str(task.user_scenario) for task in generated.domain.tasks(None)}
    texts = [str(task.user_scenario) for task in easy]
    assert len(set(texts)) == len(texts)
    assert len([text for text in texts if text in bundled]) <= len(texts) / 20
    assert len({script(task).facts["name"] for task in easy}) >= 30
    assert len({task.id.rsplit("-", 2)[0] for task in easy}) >= 50
    assert len({task.user_scenario.persona for task in easy}) == generated.personas


@pytest.mark.parametrize("agent", ["gold", "noop"])
def test_the_reference_passes_and_doing_nothing_does_not(
    generated: Generated, easy: list[Task], hard: list[Task], agent: str
) -> None:
    for task in (*easy[:60], *hard[:20]):
        assert simulate(task, domain=generated.domain, agent=agent).reward == (agent == "gold"), task.id


def test_every_write_is_needed_and_every_argument_can_be_known(
    generated: Generated, easy: list[Task], hard: list[Task]
) -> None:
    db = generated.domain.environment().agent_db
    for task in (*easy, *hard):
        generated.verify(task, db)


def test_required_phrases_are_said_only_by_the_agent(easy: list[Task], hard: list[Task]) -> None:
    for task in (*easy, *hard):
        heard = f"{task.user_scenario} {task.user_scenario.script}".lower()
        assert not [phrase for phrase in task.criteria.communicate_info or [] if phrase.lower() in heard]


def test_no_task_needs_a_judge(easy: list[Task], hard: list[Task]) -> None:
    assert not [task.id for task in (*easy, *hard) if task.needs_judge]


def test_texts_are_whole(easy: list[Task], hard: list[Task]) -> None:
    for task in (*easy, *hard):
        assert not re.search(r"[{}]|\bNone\b|  ", str(task.user_scenario))
        assert not re.search(r"[{}]|\byou\b|\byour\b|  ", " ".join(request.say for request in script(task).requests))


def test_the_scripted_user_and_the_rules_agent_come_to_terms(
    generated: Generated, easy: list[Task], hard: list[Task]
) -> None:
    tasks = [*easy, *hard]
    failed = [t.id for t in tasks if simulate(t, domain=generated.domain, agent="rules", user="scripted").reward != 1]
    assert len(failed) <= len(tasks) / 20, failed


def test_several_requests_are_several_matters_of_one_customer(easy: list[Task], hard: list[Task]) -> None:
    assert all(len(re.findall(r"The next matter", instructions_of(task).task_instructions)) == 2 for task in hard)
    assert all(len(script(task).requests) >= 3 for task in hard)
    calls = [len(task.criteria.actions or []) for task in hard]
    assert sum(calls) / len(hard) > 1.5 * sum(len(task.criteria.actions or []) for task in easy) / len(easy)


def test_no_two_matters_touch_the_same_subject(generated: Generated, hard: list[Task]) -> None:
    for task in hard:
        matters = re.split(
            r"The next matter", f"{instructions_of(task).reason_for_call} {instructions_of(task).task_instructions}"
        )
        named = [set(re.findall(generated.subject, matter)) for matter in matters]
        assert sum(map(len, named)) == len(set().union(*named)), task.id


def test_distractors_are_remarks_in_the_first_message(easy: list[Task], hard: list[Task]) -> None:
    assert not [task.id for task in easy if "By the way" in script(task).requests[0].say]
    for task in hard:
        assert script(task).requests[0].say.count("By the way") == HARD.distractors
        assert "You mention in passing" in (instructions_of(task).known_info or "")


def test_more_requests_than_any_customer_has_orders_are_an_error(generated: Generated) -> None:
    with pytest.raises(ConfigurationError, match=f"1 to {generated.most_requests} requests, not 9"):
        generated.make(1, difficulty=Difficulty(requests=9))


def test_nothing_needs_faker(generated: Generated, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "faker", None)
    assert len(generated.make(3)) == 3


def test_tasks_come_one_by_one(generated: Generated) -> None:
    generate = generated.domain.spec.generate
    assert generate
    assert len(list(islice(generate(10**9, 1, Difficulty()), 2))) == 2


# The bundled files

FAKER = version("faker") if importlib.util.find_spec("faker") else None
WITH_FAKER = ("airline", "banking_knowledge", "retail")


def generator_of(name: str) -> Any:
    return importlib.import_module(f"pytest_tau_domains.{name}.tasks.generator")


def need_faker(name: str, wanted: str | None = FAKER) -> None:
    """Skip a test of a domain whose names are those of a Faker that is not installed."""
    if name in WITH_FAKER and (FAKER is None or wanted != FAKER):
        pytest.skip(f"needs Faker {wanted or ''}, installed: {FAKER}")


@pytest.mark.parametrize("name", [*WITH_FAKER, "telecom"])
def test_the_committed_files_are_what_the_command_writes(name: str, tmp_path: Path) -> None:
    need_faker(name, FAKER_VERSION)
    spec = load_domain(name).spec
    folders = {"tasks": ("--out", spec.tasks)}
    if name in WITH_FAKER:
        folders = {"data": ("--out", spec.folder), "tasks": ("--tasks-out", spec.tasks)}
    options = [part for folder, (option, _) in folders.items() for part in (option, str(tmp_path / folder))]
    generator_of(name).main(["--seed", "7", *options])
    written = {file.relative_to(tmp_path): file.read_bytes() for file in tmp_path.rglob("*.json")}
    assert {file.name for file in written} >= {"tasks.json", "split_tasks.json", *["db.json"] * (name in WITH_FAKER)}
    for file, content in written.items():
        committed = folders[file.parts[0]][1].joinpath(*file.parts[1:])
        # Not compared by pytest, which would explain half a megabyte of difference.
        assert (content == committed.read_bytes()) is True, file


@pytest.mark.parametrize("name", ["banking_knowledge", "retail"])
def test_the_committed_tasks_are_cast_from_the_committed_database(name: str) -> None:
    generator, domain = generator_of(name), load_domain(name)
    tasks = generator.make_tasks(domain.environment().agent_db)
    for file, text in task_files(tasks, generator.splits(tasks)).items():
        assert text == (domain.spec.tasks / file).read_text("utf-8")


@pytest.mark.parametrize(
    ("name", "seed"),
    [("airline", 8), *((name, seed) for name in ("banking_knowledge", "retail") for seed in (8, 9)), ("telecom", 8)],
)
def test_other_seeds_give_valid_sets_of_their_own(name: str, seed: int) -> None:
    need_faker(name)
    generator, spec = generator_of(name), load_domain(name).spec
    made, again = (generator.bundled_files(seed)["tasks.json"] for _ in range(2))
    assert made == again
    committed = (spec.tasks / "tasks.json").read_text("utf-8")
    assert made != committed
    if name in WITH_FAKER:
        assert [task["id"] for task in json.loads(made)] == [task["id"] for task in json.loads(committed)]


@pytest.mark.parametrize("name", WITH_FAKER)
def test_a_missing_faker_is_reported_with_the_extra(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "faker", None)
    with pytest.raises(ConfigurationError, match=r"pytest-tau\[dev\]"):
        generator_of(name).bundled_files()
