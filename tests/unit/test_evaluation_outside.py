"""Changes of an environment that no call of its conversation has made."""

from __future__ import annotations

import itertools
from dataclasses import FrozenInstanceError
from typing import TYPE_CHECKING, Any

import pytest

from pytest_tau import Capability, TrialStages
from pytest_tau.chat import TrialModels
from pytest_tau.diagnosis import explain, plain_text
from pytest_tau.environment import ToolError, Toolkit, domain_of, tool
from pytest_tau.evaluation import OFFICIAL
from pytest_tau.evaluation.component import GradingInput
from pytest_tau.evaluation.outside import (
    OutsideChanges,
    OutsideObserver,
    StateBefore,
    _overlap,
    outside_changes,
    outside_lines,
    undeclared_in,
    undeclared_write,
)
from pytest_tau.models import Difference, Simulation, ToolMessage
from pytest_tau.participants import load_source
from pytest_tau.runner import SimulationSettings, Trial, TrialRunner

from . import tiny
from .tiny import STOP, action, agent, call, run, task

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from pytest_tau.environment import Domain, Environment
    from pytest_tau.models import Task, ToolCall

WANTED = task({"actions": [action("rename", item_id="lamp", name="Light")], "reward_basis": ["DB"]})


def talk(domain: Domain, replies: list[Any], wanted: Task = WANTED, before: Any = None, **options: Any) -> Simulation:
    """A conversation in which the agent gives these replies; a function is called with the environment first."""
    settings = SimulationSettings(**options)
    environment = domain.environment(wanted, solo=settings.solo)
    if before:
        before(environment)
    left = iter(replies)

    def answer(messages: Any, tools: Any) -> Any:
        reply = next(left)
        return reply(environment) if callable(reply) else reply

    said = itertools.chain(["Go."], itertools.repeat(STOP if not settings.solo else "-"))
    trial = Trial(wanted, domain, environment, settings, TrialModels({}))
    user = load_source(lambda messages, tools: next(said), "user")
    return run(TrialRunner(trial, load_source(answer, "agent"), user).run())


def outside(simulation: Simulation) -> Any:
    return simulation.info.outside_changes


def rename(environment: Environment) -> str:
    """An agent's loop that executes the tool itself."""
    return environment.call("rename", {"item_id": "lamp", "name": "Light"}).content or ""


def test_a_tool_that_an_agent_executes_itself_is_named_with_its_effect(domain: Domain) -> None:
    simulation = talk(domain, [rename])
    assert simulation.reward == 0
    found = outside(simulation)
    assert (found.when, found.tools, found.places) == ("during", {"rename": 1}, 1)
    (place,) = found.differences
    assert (place.side, place.path, place.expected, place.got) == (
        "agent",
        "items/lamp/name",
        "Lamp",
        "Light",
    )
    assert simulation.info.blame.party == "harness"
    report = plain_text(explain(simulation))
    assert (
        "outside of the conversation's calls; executed on it directly: rename\n  agent side: items/lamp/name" in report
    )
    assert "return the calls from respond(), or give the agent the tools of its trial (pytest_tau.own_loop)" in report
    assert "the agent's fault" not in report


@pytest.mark.parametrize(
    "replies",
    [
        [agent(call("rename", item_id="lamp", name="Light")), "Done."],
        [agent(call("rename", item_id="lamp", name="Dark")), "Done."],
        [agent(call("look", item_id="lamp"), call("half_done", item_id="desk")), "Done."],
        [agent(call("gone"), call("rename", item_id="none", name="x")), "Done."],
        [{"tool_calls": [{"name": "rename", "arguments": "[]"}]}, "Done."],
        [lambda environment: environment.call("look", {"item_id": "lamp"}).content, "Done."],
        [lambda environment: environment.call("rename", {"item_id": "none", "name": "x"}).content, "Done."],
        [lambda environment: environment.execute("look", {"item_id": "lamp"}).name, "Done."],
    ],
)
def test_calls_of_the_conversation_and_tools_that_change_nothing_are_no_such_changes(
    domain: Domain, replies: list[Any]
) -> None:
    assert outside(talk(domain, replies)) is None


def test_a_tool_that_is_executed_and_returned_is_found_too(domain: Domain) -> None:
    def twice(environment: Environment) -> Any:
        environment.call("count", {"by": 2})
        return agent(call("count", by=2))

    found = outside(talk(domain, [twice, "Done."]))
    assert (found.tools, found.differences[0].got) == ({"count": 1}, 4)


def test_a_record_that_code_changes_itself_is_found(domain: Domain) -> None:
    def change(environment: Environment) -> Any:
        environment.agent_db.items["desk"].price = 1.0  # type: ignore[attr-defined]
        return agent(call("rename", item_id="lamp", name="Light"))

    simulation = talk(domain, [change, "Done."])
    found = outside(simulation)
    assert (simulation.reward, found.tools, found.places) == (1, {}, 1)
    assert found.differences[0].path == "items/desk/price"


def test_a_state_that_was_changed_before_is_reported_as_that(domain: Domain) -> None:
    simulation = talk(domain, ["Done."], before=rename)
    found = outside(simulation)
    assert (found.when, found.tools) == ("before", {"rename": 1})
    report = plain_text(explain(simulation))
    assert "the environment was changed before the conversation; executed on it directly: rename" in report
    assert "put the changes into the task's initial_state" in report
    assert "the harness's fault: the environment was changed before the conversation" in report


def test_the_calls_of_a_history_are_no_changes_of_others(domain: Domain) -> None:
    history = [
        {"role": "user", "content": "Go."},
        {"role": "assistant", "tool_calls": [{"id": "1", "name": "count", "arguments": {"by": 3}}]},
        {"role": "tool", "id": "1", "content": "3"},
    ]
    wanted = task({"actions": [action("count", by=5)], "reward_basis": ["DB"]}, state={"message_history": history})
    assert outside(talk(domain, [agent(call("count", by=1)), "Done."], wanted)) is None
    assert outside(talk(domain, [lambda environment: environment.call("count", {}).content], wanted)).tools == {
        "count": 1
    }


def test_alone(domain: Domain) -> None:
    wanted = task({"actions": [action("switch")], "reward_basis": ["DB"]}, ticket="Switch it on.")
    found = outside(talk(domain, [lambda environment: environment.call("switch", {}).content], wanted, solo=True))
    assert (found.tools, found.differences[0].side) == ({"switch": 1}, "user")


def test_what_a_tool_itself_may_change_is_not_reported(tmp_path: Path) -> None:
    numbers = itertools.count(1)

    class Moody(tiny.TinyTools):
        @tool("write")
        def draw(self) -> str:
            """Store a number that is another one each time."""
            self.db.settings["drawn"] = next(numbers)
            return "drawn"

    assert issubclass(Moody, Toolkit)
    moody = tiny.make(tmp_path / "moody", agent_tools=Moody)
    assert outside(talk(moody, [agent(call("draw")), "Done."])) is None

    def directly(environment: Environment) -> str:
        return environment.call("draw", {}).content or ""

    assert outside(talk(moody, [directly])).tools == {"draw": 1}


@pytest.fixture
def mislabelled(tmp_path: Path) -> Domain:
    """A domain whose tools change something, although they are declared otherwise."""

    class Mislabelled(tiny.TinyTools):
        @tool("read")
        def read_and_count(self) -> str:
            """Count."""
            self.db.counter += 1
            return "read"

        @tool("generic")
        def count_and_fail(self) -> str:
            """Count and fail."""
            self.db.counter += 1
            raise ToolError("too late")

    return tiny.make(tmp_path / "mislabelled", agent_tools=Mislabelled)


@pytest.mark.parametrize(("name", "kind"), [("read_and_count", "read"), ("count_and_fail", "generic")])
def test_a_tool_that_writes_without_being_declared_as_a_write_leaves_no_verdict(
    mislabelled: Domain, name: str, kind: str
) -> None:
    calls = agent(call("rename", item_id="lamp", name="Light"), call("look", item_id="lamp"), call(name))
    simulation = talk(mislabelled, [calls, "Done."])
    assert (simulation.outcome, simulation.reward_info) == ("error", None)
    expected = f"DomainError: tool '{name}' is declared as {kind} but has changed counter: declare it @tool(\"write\")"
    assert simulation.error == expected
    assert (simulation.info.blame.party, simulation.info.outside_changes is not None) == ("domain", False)


def test_what_a_write_changes_that_says_that_it_does_not_count_is_no_error(domain: Domain) -> None:
    calls = agent(call("rename", item_id="lamp", name="Light"), call("count_unseen"))
    simulation = talk(domain, [calls, "Done."])
    assert (simulation.outcome, outside(simulation)) == ("passed", None)


class Logging(tiny.TinyTools):
    """Tools of which a reading one keeps a log in the database, which does not count."""

    @tool("read", mutates=False)
    def read_and_log(self) -> str:
        """Read, and count the reads."""
        self.db.counter += 1
        return "read"


def test_what_a_read_changes_that_says_that_it_does_not_count_is_no_error(tmp_path: Path) -> None:
    logging = tiny.make(tmp_path / "logging", agent_tools=Logging)
    calls = agent(call("read_and_log"), call("rename", item_id="lamp", name="Light"))
    simulation = talk(logging, [calls, "Done."])
    assert (simulation.outcome, outside(simulation)) == ("passed", None)


class Remembering(tiny.TinyTools):
    """Tools of which a reading one keeps something outside of the database."""

    def __init__(self, db: tiny.TinyDB) -> None:
        super().__init__(db)
        self.found = "none"

    @tool("read")
    def search(self, item_id: str) -> str:
        """Find an item for ``rename_found``."""
        self.found = item_id
        return item_id

    @tool("write")
    def rename_found(self, name: str) -> str:
        """Rename the item that was found last."""
        self.db.items[self.found].name = name
        return "renamed"


@pytest.fixture
def remembering(tmp_path: Path) -> Domain:
    return tiny.make(tmp_path / "remembering", agent_tools=Remembering)


BY_SEARCH = task(
    {"actions": [action("search", item_id="lamp"), action("rename_found", name="Light")], "reward_basis": ["DB"]}
)
FOUND = agent(call("count"), call("search", item_id="lamp"), call("rename_found", name="Light"), call("count"))


def test_a_read_that_a_later_write_depends_on_leaves_no_verdict(remembering: Domain) -> None:
    simulation = talk(remembering, [FOUND, "Done."], BY_SEARCH)
    assert (simulation.outcome, simulation.info.error_kind) == ("error", "DomainError")
    assert simulation.error == (
        "DomainError: domain 'tiny': the reference actions of task 't' lead to another state when they are carried out "
        'again, without those that only read: items/lamp/name: "Light" at first, now "Lamp". Tools that write must do '
        "the same each time, and a tool that changes what a write depends on must be declared as a write. What differs "
        "each time, such as a time or a random id, must come from the data or the arguments"
    )
    assert (simulation.info.blame.party, simulation.info.outside_changes is not None) == ("domain", False)


def test_no_agent_can_fail_such_a_task(remembering: Domain) -> None:
    assert talk(remembering, ["Done."], BY_SEARCH).info.error_kind == "DomainError"


def test_a_write_that_says_that_it_does_not_count_may_explain_the_difference(remembering: Domain) -> None:
    calls = agent(call("count_unseen"), call("look", item_id="lamp"), call("count"))
    assert talk(remembering, [calls, "Done."]).outcome == "failed"


def test_a_function_that_keeps_something_outside_of_the_snapshot_leaves_no_verdict(tmp_path: Path) -> None:
    class Shelf:
        def __init__(self) -> None:
            self.taken: list[str] = []
            self.found = "none"

        def search(self, title: str) -> str:
            """Find a book."""
            self.found = title
            return title

        def take(self) -> str:
            """Take the book that was found."""
            self.taken.append(self.found)
            return self.found

    shelf = domain_of(
        "shelf",
        tools=[Shelf.search, Shelf.take],
        make=Shelf,
        snapshot=lambda shelf: shelf.taken,
        reads={"search"},
        folder=tmp_path,
    ).load()
    wanted = task({"actions": [action("search", title="Emma"), action("take")], "reward_basis": ["DB"]})
    simulation = talk(shelf, [agent(call("search", title="Emma"), call("take")), "Done."], wanted)
    assert simulation.outcome == "error"
    assert 'without those that only read: state/0: "Emma" at first, now "none"' in (simulation.error or "")


@pytest.mark.parametrize(("length", "lead"), [(1, 0), (2, 1), (7, 2)])
def test_values_that_change_with_each_call_are_no_effect_of_reads(tmp_path: Path, length: int, lead: int) -> None:
    """As of random numbers with few values, or of a clock."""
    values = itertools.cycle(range(length))
    for _ in range(lead):
        next(values)

    class Moody(Remembering):
        @tool("write")
        def draw(self) -> str:
            """Store a value."""
            self.db.settings["drawn"] = next(values)
            return "drawn"

    moody = tiny.make(tmp_path / "moody", agent_tools=Moody)
    assert talk(moody, [agent(call("search", item_id="lamp"), call("draw")), "Done."]).outcome == "failed"


def test_a_function_that_writes_and_is_named_as_a_read_leaves_no_verdict(tmp_path: Path) -> None:
    class Counter:
        number = 0

        def show(self) -> int:
            """Return the number, and count."""
            self.number += 1
            return self.number

    tools = domain_of(
        "counter",
        tools=[Counter.show],
        make=Counter,
        snapshot=lambda counter: {"number": counter.number},
        reads={"show"},
        folder=tmp_path,
    ).load()
    simulation = talk(tools, [agent(call("show")), "Done."], task({"actions": [], "reward_basis": ["DB"]}))
    expected = "tool 'show' is declared as read but has changed number: do not name it in reads= of the domain"
    assert simulation.error == f"DomainError: {expected}"


def test_an_assertion_without_a_bool_leaves_no_verdict(domain: Domain) -> None:
    asserted = {"env_type": "assistant", "func_name": "counted", "arguments": {}}
    wanted = task({"actions": [], "env_assertions": [asserted], "reward_basis": ["ENV_ASSERTION"]})
    simulation = talk(domain, ["Done."], wanted)
    assert simulation.outcome == "error"
    assert simulation.error == "DomainError: assertion 'counted' returned int: return True or False"
    assert simulation.info.error_kind == "DomainError"
    assert Simulation.model_validate_json(simulation.model_dump_json()).info.error_kind == "DomainError"


def test_a_time_of_second_resolution_is_not_reported(tmp_path: Path) -> None:
    """Two replays one after the other agree, and the conversation was earlier."""
    now = [1]

    class Dated(tiny.TinyTools):
        @tool("write")
        def stamp(self) -> str:
            """Store the time."""
            self.db.settings["at"] = now[0]
            return "stamped"

    dated = tiny.make(tmp_path / "dated", agent_tools=Dated)

    def later(environment: Environment) -> str:
        now[0] = 2
        return "Done."

    assert outside(talk(dated, [agent(call("stamp")), later])) is None


def test_a_domain_that_fails_here_costs_no_verdict(domain: Domain, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("pytest_tau.evaluation.outside.check_db", lambda *_: 1 / 0)
    simulation = talk(domain, [rename])
    assert simulation.outcome == "failed"
    assert outside(simulation) is None


@pytest.mark.parametrize("change", [rename, lambda environment: "Done."])
def test_the_verdict_does_not_depend_on_it(
    domain: Domain, monkeypatch: pytest.MonkeyPatch, change: Callable[[Environment], str]
) -> None:
    found = talk(domain, [change]).reward_info
    monkeypatch.setattr("pytest_tau.evaluation.outside.OutsideObserver.grade", lambda *_: None)
    assert talk(domain, [change]).reward_info == found


def test_executions_on_a_fork_are_its_own(env: Environment) -> None:
    env.call("count", {})
    fork = env.fork()
    fork.call("count", {})
    assert (env.executed["count"], fork.executed["count"]) == (1, 2)


def changes(places: int, length: int = 3) -> OutsideChanges:
    """So many items that were added; the JSON of each has this length."""
    found = [
        Difference(side="agent", path=f"items/{number}", expected=None, got="x" * (length - 2), missing="expected")
        for number in range(places)
    ]
    return OutsideChanges("during", {}, found, len(found))


@pytest.mark.parametrize(("places", "shown", "more"), [(1, 1, None), (4, 4, None), (5, 4, 1), (30, 4, 26)])
def test_four_places_are_shown_and_the_others_counted(places: int, shown: int, more: int | None) -> None:
    lines = [line.text for line in outside_lines(changes(places))]
    assert sum("items/" in line for line in lines) == shown
    assert [line for line in lines if "more" in line] == ([f"  and {more} more"] if more else [])


def test_twenty_places_are_kept(domain: Domain) -> None:
    def tag(environment: Environment) -> Any:
        for number in range(22):
            environment.call("add", {"item_id": f"new-{number}", "tags": []})
        return "Done."

    found = outside(talk(domain, [tag]))
    assert (len(found.differences), found.places) == (20, 22)
    with pytest.raises(FrozenInstanceError):
        found.when = "before"


def test_a_record_of_200_characters_is_whole() -> None:
    whole, cut = (outside_lines(changes(1, length))[1].text for length in (200, 201))
    assert "…" not in whole
    assert "…" in cut
    assert len(whole) == len(cut)


def test_a_beginning_is_that_of_both_sides(domain: Domain) -> None:
    environment = domain.environment(WANTED)
    beginning = StateBefore.of(environment)
    assert beginning.user_db is not None
    assert beginning.is_of(domain.environment(WANTED))
    environment.execute("switch", {}, "user")
    assert not beginning.is_of(environment)
    environment = domain.environment(WANTED)
    environment.execute("count", {})
    assert not beginning.is_of(environment)


def test_an_unknown_tool_and_a_malformed_call_are_no_writes(domain: Domain) -> None:
    broken = call("rename", item_id="lamp", name="Light").model_copy(update={"malformed": "{"})
    calls = [call("nothing"), broken, call("look", item_id="lamp"), call("count")]
    assert undeclared_write(domain.environment(WANTED), calls) is None


def test_the_observer_is_no_factor_of_the_reward(domain: Domain) -> None:
    environment = domain.environment(WANTED)
    observer = OutsideObserver(environment, StateBefore.of(environment))
    assert observer.evaluate(WANTED, [], environment) == 1.0


def test_calls_that_were_not_made_are_skipped_and_the_next_are_not(mislabelled: Domain) -> None:
    broken = call("read_and_count").model_copy(update={"malformed": "{"})
    assert undeclared_write(mislabelled.environment(WANTED), [broken]) is None
    found = undeclared_write(mislabelled.environment(WANTED), [call("nothing"), broken, call("read_and_count")])
    assert found is not None
    assert (found.tool, found.place) == ("read_and_count", "counter")


def test_only_calls_that_were_executed_explain_executions(domain: Domain) -> None:
    class Refusing(TrialStages):
        async def call(self, call: ToolCall) -> ToolMessage | None:
            refused = ToolMessage(id=call.id, content="Error: no", requestor=call.requestor, error=True, fault="error")
            return refused if call.name == "rename" else None

    faulty = {"capabilities": [Capability("refusals", trial=lambda _view: Refusing()).with_settings()]}

    def twice(made: Any) -> Callable[[Environment], Any]:
        def reply(environment: Environment) -> Any:
            rename(environment)
            environment.call("look", {"item_id": "lamp"})
            return made

        return reply

    not_made: list[tuple[Any, dict[str, Any]]] = [
        ({"tool_calls": [{"name": "rename", "arguments": "[]"}]}, {}),
        (agent(call("rename", item_id="lamp", name="Dark")), faulty),
    ]
    for made, options in not_made:
        assert outside(talk(domain, [twice(made), "Done."], **options)).tools == {"rename": 1}


def test_a_history_ends_before_the_first_call(domain: Domain) -> None:
    wanted = task(
        {"actions": [], "reward_basis": ["DB"]}, state={"message_history": [{"role": "user", "content": "Go."}]}
    )

    def change(environment: Environment) -> Any:
        environment.agent_db.items["desk"].price = 1.0  # type: ignore[attr-defined]
        return agent(call("rename", item_id="lamp", name="Light"))

    assert outside(talk(domain, [change, "Done."], wanted)).tools == {}


def test_calls_of_a_history_are_not_counted_as_made_before(domain: Domain) -> None:
    history = [
        {"role": "user", "content": "Go."},
        {"role": "assistant", "tool_calls": [{"id": "1", "name": "count", "arguments": {"by": 3}}]},
        {"role": "tool", "id": "1", "content": "3"},
    ]
    wanted = task({"actions": [], "reward_basis": ["DB"]}, state={"message_history": history})
    found = outside(talk(domain, ["Done."], wanted, before=lambda environment: environment.call("count", {})))
    assert (found.when, found.tools) == ("before", {"count": 1})


def test_the_first_place_is_named(tmp_path: Path) -> None:
    class Thorough(tiny.TinyTools):
        @tool("read")
        def read_all(self) -> str:
            """Change several places."""
            self.db.items["lamp"].price = self.db.items["desk"].price = 7.0
            self.db.counter += 1
            return "read"

    thorough = tiny.make(tmp_path / "thorough", agent_tools=Thorough).environment(WANTED)
    before = thorough.fork()
    found = undeclared_write(thorough, [call("read_all")])
    assert found is not None
    places = [change.path for change in before.agent_db.changes(thorough.agent_db)]
    assert len(places) == 3
    assert found.place == places[0]


def test_a_beginning_with_one_database_for_both_sides(domain: Domain) -> None:
    environment = domain.environment(WANTED)
    assert environment.user_db is not None
    assert StateBefore.of(environment)._replace(user_db=None).is_of(domain.environment(WANTED))


@pytest.mark.parametrize(
    ("one", "other", "overlap"),
    [
        ("items/lamp", "items/lamp", True),
        ("items/lamp", "items/lamp/name", True),
        ("items/lamp/name", "items/lamp", True),
        ("items/lamp", "items/lamps", False),
        ("items/lamp/name", "items/lamp/price", False),
    ],
)
def test_places_overlap_if_one_is_inside_of_the_other(one: str, other: str, overlap: bool) -> None:
    assert _overlap(("agent", one), ("agent", other)) is overlap
    assert not _overlap(("agent", one), ("user", other))


def test_a_state_that_is_the_replayed_one_is_not_looked_at_further(domain: Domain) -> None:
    environment = domain.environment(WANTED)
    given = GradingInput(WANTED, [STOP], domain, OFFICIAL)
    assert outside_changes(environment, StateBefore.of(environment), given) is None


def test_nothing_is_started_for_a_domain_whose_copies_are_processes(
    domain: Domain, monkeypatch: pytest.MonkeyPatch
) -> None:
    environment = domain.environment(WANTED)
    beginning = StateBefore.of(environment)
    environment.agent_db.items["desk"].price = 1.0  # type: ignore[attr-defined]
    given = GradingInput(WANTED, [STOP], domain, OFFICIAL)
    assert outside_changes(environment, beginning, given) is not None
    monkeypatch.setattr(type(environment.agent_db), "cheap_to_fork", False)
    assert outside_changes(environment, beginning, given) is None
    assert undeclared_in(given) is None


def test_an_initial_state_that_is_never_the_same_is_a_mistake_of_the_domain(tmp_path: Path) -> None:
    prices = itertools.count(100)

    class Drawing(tiny.TinyTools):
        def begin_task(self, task: Task) -> None:
            self.db.items["lamp"].price = float(next(prices))

    drawing = tiny.make(tmp_path / "drawing", agent_tools=Drawing)
    simulation = talk(drawing, [agent(call("rename", item_id="lamp", name="Light")), "Done."])
    assert (simulation.outcome, simulation.info.error_kind) == ("error", "DomainError")
    assert "items/lamp/price: " in (simulation.error or "")
    assert outside(simulation) is None
