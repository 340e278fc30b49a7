"""Initial states of tasks are made twice in a process and copied from then on, if both were equal."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING

import pytest

from pytest_tau import load_domain
from pytest_tau.environment import Environment, Toolkit, initial_state
from pytest_tau.environment.execution_checks import check_initial_state
from pytest_tau.models import ToolCall

if TYPE_CHECKING:
    from pytest_tau import Domain, Task


@pytest.fixture
def domain() -> Domain:
    """A domain of its own, without states that other tests have made."""
    known = load_domain("telecom")
    return known.showing(known.spec, None)


@pytest.fixture
def made(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The ids of the tasks whose initial state was made."""
    found = []
    apply = initial_state.apply_initial_state

    def note(environment: object, task: Task, **options: bool) -> None:
        found.append(task.id)
        apply(environment, task, **options)  # type: ignore[arg-type]

    monkeypatch.setattr("pytest_tau.environment.domain.apply_initial_state", note)
    return found


def tasks_with_states(domain: Domain) -> list[Task]:
    """The first task of each initial state."""
    tasks = [(task.initial_state.model_dump_json(), task) for task in domain.tasks() if task.initial_state is not None]
    return list(dict(reversed(tasks)).values())


def test_a_copy_is_what_is_made_anew(domain: Domain, made: list[str]) -> None:
    for task in tasks_with_states(domain):
        first, _, copied = (domain.environment(task) for _ in range(3))
        assert made == [task.id] * 2
        made.clear()
        assert copied.dump() == first.dump()
        assert copied.tools("user") == first.tools("user")
        assert copied.executed == first.executed


def test_an_environment_for_a_replay_is_the_same_without_a_history(domain: Domain, made: list[str]) -> None:
    task = next(task for task in tasks_with_states(domain) if not task.initial_state.message_history)
    first = domain.environment(task).dump()
    assert domain.environment(task, replay_history=False).dump() == first
    assert domain.environment(task, replay_history=False).dump() == first
    assert made == [task.id] * 2


def test_a_history_is_replayed_only_where_it_is_wanted(domain: Domain) -> None:
    task = next(task for task in tasks_with_states(domain) if not task.initial_state.message_history)
    tool = next(
        tool.name
        for tool in domain.environment(task).tools("user")
        if domain.environment(task).mutates(tool.name, "user") and not tool.parameters.get("required")
    )
    call = {"id": "1", "name": tool, "arguments": {}, "requestor": "user"}
    done = domain.environment(task)
    answer = done.answer(ToolCall.model_validate(call))
    history = [{"role": "user", "tool_calls": [call]}, answer.model_dump()]
    state = task.initial_state.model_dump() | {"message_history": history}
    task = type(task).model_validate(task.model_dump() | {"initial_state": state})
    for _ in range(3):
        assert domain.environment(task).dump() == done.dump()
        assert domain.environment(task, replay_history=False).dump() != done.dump()


def test_changes_of_a_copy_stay_in_it(domain: Domain) -> None:
    task = tasks_with_states(domain)[0]
    first, *_ = [domain.environment(task).dump() for _ in range(3)]
    changed = domain.environment(task)
    for tool in changed.tools("user"):
        if changed.mutates(tool.name, "user") and not tool.parameters.get("required"):
            changed.call(tool.name, {}, "user")
    assert changed.dump() != first
    assert domain.environment(task).dump() == first


def test_modes_do_not_share_states(domain: Domain) -> None:
    task = tasks_with_states(domain)[0]
    for _ in range(3):
        assert [tool.name for tool in domain.environment(task, solo=True).tools("user")] == []
        assert domain.environment(task).tools("user")


def test_a_domain_with_other_texts_has_states_of_its_own(domain: Domain) -> None:
    task = tasks_with_states(domain)[0]
    tools, *_ = [domain.environment(task).tools("assistant") for _ in range(3)]
    shown = {"assistant": {tool.name: ("Another text.", tool.parameters) for tool in tools}, "user": {}}
    twin = domain.showing(domain.spec, shown)  # type: ignore[arg-type]
    for _ in range(3):
        assert {tool.description for tool in twin.environment(task).tools("assistant")} == {"Another text."}
        assert "Another text." not in {tool.description for tool in domain.environment(task).tools("assistant")}


def test_a_state_that_depends_on_anything_else_is_made_each_time(
    domain: Domain, made: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    numbers = iter(range(100))
    toolkit = domain.spec.agent_tools
    begin = toolkit.__init__

    def start(self: Toolkit[object], *arguments: object) -> None:
        begin(self, *arguments)  # type: ignore[arg-type]
        self.number = next(numbers)  # type: ignore[attr-defined]

    monkeypatch.setattr(toolkit, "__init__", start)
    task = tasks_with_states(domain)[0]
    for _ in range(5):
        domain.environment(task)
    assert made == [task.id] * 5


def test_toolkits_that_prepare_for_a_task_are_never_copied(
    domain: Domain, made: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(domain.spec.agent_tools, "begin_task", lambda self, task: None)
    task = tasks_with_states(domain)[0]
    for _ in range(4):
        domain.environment(task)
    assert made == [task.id] * 4


def test_the_check_of_a_task_makes_its_state_for_the_first_time(
    domain: Domain, made: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    forks = []
    fork = Environment.fork
    monkeypatch.setattr(Environment, "fork", lambda self: [forks.append(self), fork(self)][1])
    task = tasks_with_states(domain)[0]
    check_initial_state(task, domain)
    domain.environment(task)
    assert (made, forks) == ([task.id] * 2, [])
    domain.environment(task)
    assert (made, len(forks)) == ([task.id] * 2, 1)


def test_an_environment_that_is_only_read_is_shared_once_it_is_known(domain: Domain, made: list[str]) -> None:
    task = tasks_with_states(domain)[0]
    dump = domain.environment(task).dump()
    _, shared = domain.shared_environment(task), domain.shared_environment(task)
    assert made == [task.id] * 2
    assert shared is domain.shared_environment(task)
    assert shared is not domain.environment(task)
    assert shared.dump() == dump


def test_the_states_used_last_are_kept(domain: Domain, made: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(initial_state, "_MOST_STATES", 2)
    first, second, third = tasks_with_states(domain)[:3]
    for task in (first, first, second, second, first, third, third):
        domain.environment(task)
    made.clear()
    domain.environment(first)
    domain.environment(third)
    assert made == []
    domain.environment(second)
    assert made == [second.id]


def test_threads_share_states(domain: Domain, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(initial_state, "_MOST_STATES", 3)
    tasks = tasks_with_states(domain)[:12]
    expected = {task.id: domain.showing(domain.spec, None).environment(task).dump() for task in tasks}
    with ThreadPoolExecutor(4) as pool:
        found = list(pool.map(lambda task: (task.id, domain.environment(task).dump()), tasks * 8))
    assert all(expected[task_id] == dump for task_id, dump in found)
