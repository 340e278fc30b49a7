"""Capabilities: stages of a trial, facts, columns, what is recorded of them, and mistakes."""

from __future__ import annotations

import asyncio
import copy
import json
import pickle
from dataclasses import FrozenInstanceError, dataclass, is_dataclass
from typing import TYPE_CHECKING, Any

import pytest
from pydantic import BaseModel

import pytest_tau
from pytest_tau import Capability, Command, FactColumn, SimulationSettings, TrialStages, option
from pytest_tau.analysis.columns import COLUMNS, with_facts
from pytest_tau.analysis.gates.metrics import metric_named
from pytest_tau.capability import TypedFacts, bundled, bundled_by_default, installed
from pytest_tau.capability.calls import columns_in, columns_of, failure_lines, recorded, summary_lines
from pytest_tau.cli import main
from pytest_tau.diagnosis import explain, plain_text
from pytest_tau.errors import CapabilityError, ConfigurationError
from pytest_tau.models import Simulation, ToolMessage, clone
from pytest_tau.runs.later import FactWriter
from pytest_tau.runs.make_record import make_record
from pytest_tau.runs.reader import Run
from pytest_tau.runs.record import TrialRecord
from pytest_tau.settings import as_json, as_text, check_fields, complete, declared, integer, options_of
from pytest_tau.testing import ScriptedParticipant as Script, call

from .report_pages import line, run_folder
from .tiny import action, task

if TYPE_CHECKING:
    from pathlib import Path

    from pytest_tau.environment import Domain
    from pytest_tau.models import Message, ToolCall

WANTED = task({"actions": [action("rename", item_id="lamp", name="Light")], "reward_basis": ["DB"]})
RENAME = call("rename", item_id="lamp", name="Light")


class Count(BaseModel):
    count: int


class Stages(TrialStages):
    """Writes down what it is asked, and counts messages of the agent."""

    def __init__(self, view: Any) -> None:
        self.view, self.log = view, list[str]()

    def begin(self, messages: Any) -> None:
        self.log.append(f"begin {len(messages)}")

    async def call(self, call: ToolCall) -> ToolMessage | None:
        self.log.append(f"call {call.name}")
        return None

    async def result(self, call: ToolCall, result: ToolMessage) -> ToolMessage:
        self.log.append(f"result {call.name}")
        return result.model_copy(update={"content": "changed"})

    def message(self, message: Any) -> None:
        self.log.append(message.role)

    def graded(self, simulation: Simulation) -> Count:
        assert simulation.reward_info is not None
        return Count(count=self.log.count("assistant"))


@dataclass(frozen=True)
class Settings:
    words: tuple[str, ...] = option(tuple, "verdict", "WORD", default=(), repeat=True, help="a word")
    most: int = option(integer(0), "speed", "N", default=3, help="a number")


def counting(made: list[Stages] | None = None, **more: Any) -> Capability:
    def trial(view: Any) -> Stages:
        stages = Stages(view)
        if made is not None:
            made.append(stages)
        return stages

    columns = (FactColumn("said", "count", label="Said", metric=True),)
    given: dict[str, Any] = {"trial": trial, "facts": Count, "columns": columns, **more}
    return Capability("counting", **given)


def talk(domain: Domain, *capabilities: Any, replies: Any = (RENAME, "Done")) -> Simulation:
    agent, user = Script(list(replies)), Script(["Hi", "###STOP###"])
    settings = SimulationSettings(capabilities=capabilities)
    return pytest_tau.simulate(WANTED, domain=domain, agent=agent, user=user, seed=5, settings=settings)


def test_the_stages_are_called_in_their_order_and_facts_are_stored(domain: Domain) -> None:
    made: list[Stages] = []
    found = talk(domain, counting(made).with_settings())
    (stages,) = made
    spoken = ["begin 0", "assistant", "user", "assistant", "call rename", "result rename", "tool", "assistant", "user"]
    assert stages.log == spoken
    assert (stages.view.task.id, stages.view.seed, stages.view.settings) == (WANTED.id, 5, None)
    assert found.facts == {"counting": {"count": 3}}
    assert found.calls[0].result is not None
    assert found.calls[0].result.content == "changed"
    assert Simulation.model_validate_json(found.model_dump_json()).facts == found.facts


def test_the_messages_that_a_task_begins_with_are_not_those_of_a_conversation_that_goes_on(domain: Domain) -> None:
    made: list[Stages] = []
    wanted = task(
        initial_state={
            "message_history": [{"role": "assistant", "content": "Hello"}, {"role": "user", "content": "Hi"}]
        }
    )
    settings = SimulationSettings(capabilities=(counting(made).with_settings(),))
    pytest_tau.simulate(wanted, domain=domain, agent=Script(["Bye"]), user=Script(["###STOP###"]), settings=settings)
    assert made[0].log[0] == "begin 0"


def test_a_stage_may_answer_a_call_instead_of_the_tool(domain: Domain) -> None:
    class Refusing(TrialStages):
        async def call(self, call: ToolCall) -> ToolMessage | None:
            return ToolMessage(id=call.id, content="Error: no", requestor=call.requestor, error=True, fault="error")

    found = talk(domain, Capability("refusing", trial=lambda _view: Refusing()).with_settings())
    assert found.reward == 0.0
    assert found.facts == {}


def test_several_are_called_in_the_order_of_their_registration(domain: Domain) -> None:
    def saying(text: str) -> Any:
        class Saying(TrialStages):
            async def result(self, _call: ToolCall, result: ToolMessage) -> ToolMessage:
                return result.model_copy(update={"content": f"{result.content[-5:]}{text}"})

        return Capability(f"saying_{text}", trial=lambda _view: Saying()).with_settings()

    found = talk(domain, saying("a"), saying("b"))
    assert found.calls[0].result is not None
    assert found.calls[0].result.content.endswith("ab")


def test_a_mistake_in_facts_loses_neither_the_trial_nor_its_verdict(domain: Domain) -> None:
    class Broken(TrialStages):
        def graded(self, simulation: Simulation) -> Any:
            raise ZeroDivisionError("no trials")

    broken = Capability("broken", trial=lambda _view: Broken(), summary=lambda trials: [f"{len(trials)}"])
    found = talk(domain, broken.with_settings(), counting().with_settings())
    assert found.reward == 1.0
    line = Broken.graded.__code__.co_firstlineno + 1
    problem = f"ZeroDivisionError: no trials (test_capability.py, line {line})"
    assert found.facts == {"broken": {"problem": problem}, "counting": {"count": 3}}
    record = make_record(found, WANTED, "tiny")
    assert list(summary_lines([broken], [record])) == [("broken", f"no facts of 1 of 1 trials: {problem}")]
    assert list(failure_lines([broken], found)) == [f"broken: {problem}"]


def test_facts_may_be_awaited(domain: Domain) -> None:
    class Asking(TrialStages):
        async def graded(self, simulation: Simulation) -> dict[str, Any]:
            await asyncio.sleep(0)
            return {"outcome": simulation.outcome}

    found = talk(domain, Capability("asking", trial=lambda _view: Asking()).with_settings())
    assert found.facts == {"asking": {"outcome": "passed"}}


@pytest.mark.parametrize("stage", ["message", "graded"])
def test_a_trial_without_the_part_of_a_capability_has_no_verdict(domain: Domain, stage: str) -> None:
    class Failing(TrialStages):
        def message(self, message: Message) -> None:
            if stage == "message" and message.role == "tool":
                raise CapabilityError("no idea")

        def graded(self, simulation: Simulation) -> None:
            if stage == "graded":
                raise CapabilityError("no idea")

    found = talk(domain, Capability("failing", trial=lambda _view: Failing()).with_settings())
    assert (found.outcome, found.termination_reason, found.error) == ("error", "infrastructure_error", "no idea")
    assert [call.call.name for call in found.calls] == ["rename"]
    assert found.facts == ({"failing": {"problem": "no idea"}} if stage == "graded" else {})


def test_facts_that_were_found_after_a_run_are_merged_into_its_simulations(domain: Domain, tmp_path: Path) -> None:
    run = run_folder(tmp_path / "run", line(talk(domain, counting().with_settings()), WANTED))
    (trial,) = run.trials()
    writer = FactWriter(run.path)
    for facts in ({"later": 1}, {"later": 2, "more": "x"}):
        trial.simulation.facts = {**trial.simulation.facts, "counting": facts}
        writer.write(trial.test, trial.domain, trial.simulation, "counting")
    writer.close()
    (again,) = Run(run.path).records()
    assert again.facts == {"counting": {"count": 3, "later": 2, "more": "x"}}


def test_facts_reach_the_record_the_columns_and_the_gates(domain: Domain) -> None:
    columns = columns_of([counting()])
    records = [make_record(talk(domain, counting().with_settings()), WANTED, "tiny")]
    assert TrialRecord.model_validate(json.loads(json.dumps(records[0].as_dict()))) == records[0]
    (column,) = [each for each in with_facts(columns) if each.name == "said"]
    assert column.value(records[0]) == 3
    assert metric_named("said", columns)
    with pytest.raises(ConfigurationError, match="unknown metric 'said'"):
        metric_named("said")


def test_a_column_does_not_replace_one_of_the_core() -> None:
    named = columns_of([Capability("own", columns=(FactColumn("turns"),))])
    assert with_facts(named) == COLUMNS


def test_summary_and_failure_have_facts_of_their_class(domain: Domain) -> None:
    capability = counting(
        summary=lambda trials: [f"{sum(each.facts.count for each in trials)} of {trials[0].record.task_id}"],
        failure=lambda facts, simulation: [f"{facts.count} in {len(simulation.messages)}"],
    )
    found = talk(domain, capability.with_settings(), replies=["Done"])
    assert list(summary_lines([capability], [make_record(found, WANTED, "tiny")])) == [
        ("counting", f"2 of {WANTED.id}")
    ]
    assert "counting: 2 in 4" in plain_text(explain(found, capabilities=[capability]))


def test_the_object_is_made_once_and_kept_with_the_stored_form(domain: Domain) -> None:
    made: list[Count] = []

    def read(**stored: Any) -> Count:
        made.append(Count(**stored))
        return made[-1]

    capability = counting(facts=read)
    found = talk(domain, capability.with_settings())
    record = make_record(found, WANTED, "tiny")
    assert [capability.read(each.facts) for each in (found, record, record)] == made * 3
    assert len(made) == 1

    loaded = TrialRecord.model_validate(json.loads(json.dumps(record.as_dict())))
    text = loaded.model_dump_json()
    assert capability.read(loaded.facts) is capability.read(loaded.facts)
    assert len(made) == 2
    assert (loaded, loaded.model_dump_json(), loaded.as_dict()) == (record, text, record.as_dict())


def test_facts_that_are_no_model_are_given_with_their_stored_form(domain: Domain) -> None:
    class Ended(TrialStages):
        def graded(self, simulation: Simulation) -> TypedFacts:
            return TypedFacts({"most": len(simulation.messages)}, Settings(most=len(simulation.messages)))

    ended = Capability("ended", trial=lambda _view: Ended(), facts=Settings)
    found = talk(domain, ended.with_settings())
    assert found.facts == {"ended": {"most": len(found.messages)}}
    assert ended.read(found.facts) == Settings(most=len(found.messages))


def test_facts_that_cannot_be_read_are_kept(domain: Domain) -> None:
    facts: dict[str, Any] = {"counting": {**talk(domain, counting().with_settings()).facts["counting"], "later": 1}}
    for capability, expected in ((counting(facts=Settings), None), (counting(), Count(count=3))):
        assert capability.read(facts) == expected
        assert facts == {"counting": {"count": 3, "later": 1}}


@pytest.mark.parametrize(
    "copied",
    [copy.deepcopy, copy.copy, clone, lambda found: pickle.loads(pickle.dumps(found)), Simulation.model_copy],
    ids=["deepcopy", "copy", "clone", "pickle", "model_copy"],
)
def test_a_copy_has_the_stored_form_and_the_object(domain: Domain, copied: Any) -> None:
    found = talk(domain, counting().with_settings())
    copy_of = copied(found)
    assert (copy_of, copy_of.model_dump_json()) == (found, found.model_dump_json())
    assert counting().read(copy_of.facts) == Count(count=3)


def test_what_bundled_capabilities_return_is_what_is_read_of_its_stored_form() -> None:
    domain = pytest_tau.load_domain("retail")
    settings = SimulationSettings(capabilities=tuple(bundled_by_default()))
    for task_, agent in zip(domain.tasks()[:4], ["rules", "saboteur:wrong-item"] * 2, strict=True):
        found = pytest_tau.simulate(task_, domain=domain, agent=agent, user="scripted", settings=settings)
        stored = json.loads(json.dumps(found.facts))
        assert found.facts == stored
        # Without the capability's folder, this holds for the others.
        assert found.facts.keys() >= {"policy_rules", "user_validity"} & {each.name for each in bundled()}
        for capability in bundled():
            assert capability.read(found.facts) == capability.read(stored)


def test_facts_of_a_capability_that_is_not_there_are_kept(domain: Domain) -> None:
    found = talk(domain, counting().with_settings())
    record = make_record(found, WANTED, "tiny")
    assert record.facts == found.facts
    assert list(summary_lines(bundled(), [record])) == []


def test_it_is_on_if_a_setting_is_not_its_default() -> None:
    capability = counting(settings=Settings)
    assert not capability.is_on(Settings())
    assert capability.is_on(Settings(words=("a",)))
    assert counting().is_on(None)
    assert counting(settings=Settings, on=lambda settings: settings.most == 3).is_on(Settings())


def test_settings_are_options() -> None:
    words, most = options_of(Settings)
    assert (words.name, words.key, words.dest, words.label) == ("words", "words", "tau_words", "words")
    assert (most.default, most.affects, most.metavar) == (3, "speed", "N")
    assert most.type("7") == 7

    @dataclass(frozen=True)
    class Plain:
        number: int = 0

    with pytest.raises(TypeError, match=r"declare the field 'number' with pytest_tau\.option"):
        check_fields(Plain)

    class Undecorated:
        number: int = option(integer(1), "speed", "N", default=3)

    with pytest.raises(TypeError, match=r"expected a dataclass: add @dataclass\(frozen=True\)"):
        check_fields(Undecorated)

    @dataclass(frozen=True)
    class Misspelt:
        number: int = option(integer(1), "sped", "N", default=3)  # type: ignore[arg-type]

    with pytest.raises(TypeError, match=r"number: what it affects: expected one of verdict, .*, got 'sped'"):
        check_fields(Misspelt)


def test_a_declared_class_is_a_dataclass_once_it_is_used() -> None:
    @declared(frozen=True)
    class Late:
        number: int = option(integer(1), "speed", "N", default=3)

    @declared(frozen=True, kw_only=True)
    class Base:
        number: int = option(integer(1), "speed", "N", default=3)

    (row,) = options_of(Late)
    assert (row.field, row.default, is_dataclass(Late)) == ("number", 3, False)
    check_fields(Late)
    assert Late(number=4) == Late(4) != Late()
    with pytest.raises(FrozenInstanceError):
        Late().number = 5  # type: ignore[misc]
    complete(Base)
    complete(Base)

    @dataclass(frozen=True)
    class Whole(Base):
        name: str = ""

    assert Whole("a", number=2) == Whole("a", number=2)
    assert [row.field for row in options_of(Whole)] == ["number"]


def test_a_run_records_settings_and_columns_and_reads_them_without_the_capability() -> None:
    active = counting(settings=Settings).with_settings(words=("a", "b"))
    found = json.loads(json.dumps(recorded([active])))
    assert found["counting"]["settings"] == {"words": ["a", "b"]}
    assert columns_in({"capabilities": found}) == columns_of([active.capability])
    assert columns_in({}) == []


@pytest.mark.parametrize(
    ("value", "text"), [(("a", "b"), "a b"), ({"a": 1}, '{"a": 1}'), (0.5, "0.5"), ([("a",), "b"], "a b")]
)
def test_values_of_settings_as_text(value: Any, text: str) -> None:
    assert as_text(as_json(value)) == text


def test_an_entry_point_that_is_no_capability_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    class Entry:
        name, value = "own", "own:capability"

        def load(self) -> Any:
            return 7

    monkeypatch.setattr("importlib.metadata.entry_points", lambda group: [Entry()])
    installed.cache_clear()
    with pytest.raises(ConfigurationError, match=r"capability 'own' \(own:capability\): expected a Capability, got 7"):
        installed()
    monkeypatch.setattr(Entry, "load", lambda _: counting())
    assert installed()[-1].name == "counting"
    installed.cache_clear()


def test_a_command_is_listed_and_carried_out(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def add_parser(commands: Any) -> None:
        parser = commands.add_parser("names", description="List names.")
        parser.add_argument("name")
        parser.set_defaults(run=lambda args: print(f"name {args.name}") or 1)

    own = [Capability("own", commands=(Command("names", "start", "list names", add_parser),))]
    monkeypatch.setattr("pytest_tau.cli.installed", lambda: own)
    assert main(["names", "Ada"]) == 1
    assert capsys.readouterr().out == "name Ada\n"
    main([])
    assert (
        "\n  lint      check the tasks of domains and of task files\n  names     list names\n"
        in capsys.readouterr().out
    )
    own[0] = Capability("own", commands=(Command("show", "start", "show names", add_parser),))
    assert main(["nothing"]) == 2
    assert "the command 'show' of a capability occurs twice" in capsys.readouterr().err
