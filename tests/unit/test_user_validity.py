"""The checks of simulated users: what each finds, what it leaves alone, and how findings are stored."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from trial_records import trial_record

import pytest_tau
from pytest_tau import SimulationSettings
from pytest_tau.analysis.gates import Gate
from pytest_tau.analysis.gates.metrics import by_task, metric_named
from pytest_tau.analysis.statistics import ratio_interval
from pytest_tau.capabilities.user_validity import capability
from pytest_tau.capabilities.user_validity.checks import CHECK_NAMES, CHECKS, Check, check_user
from pytest_tau.capabilities.user_validity.details import Known
from pytest_tau.capabilities.user_validity.facts import UserFacts
from pytest_tau.capabilities.user_validity.summary import UserFaults, comparison, summary
from pytest_tau.capabilities.user_validity.trial import check_simulation
from pytest_tau.capability.calls import columns_of
from pytest_tau.capability.views import Compared, Measured
from pytest_tau.errors import ConfigurationError
from pytest_tau.language.details import details_in
from pytest_tau.models import Attribution, DBCheck, Notes, Outcome, OutcomeCheck, RewardInfo, Simulation, parse_task
from pytest_tau.models.messages import AssistantMessage, ToolCall, ToolMessage, UserMessage
from pytest_tau.participants.behaviours import BEHAVIOURS
from pytest_tau.runs.groups import Group

if TYPE_CHECKING:
    from pytest_tau.models import Message, Task

GREETING = "Hi! How can I help you today?"


def a_task(instructions: str = "You want to return order #W2378156 of May 17.", **changes: Any) -> Task:
    return parse_task({"id": "t", "user_scenario": {"instructions": instructions}, **changes})


def conversation(*texts: str) -> list[Message]:
    """Texts of the user and the agent in turn, after the greeting."""
    messages: list[Message] = [AssistantMessage(content=GREETING)]
    for number, text in enumerate(texts):
        messages.append(AssistantMessage(content=text) if number % 2 else UserMessage(content=text))
    return messages


def found(task: Task, messages: list[Message], domain: Any = None, **keywords: Any) -> list[tuple[str, int]]:
    return [(each.check, each.message_idx) for each in check_user(task, messages, domain, **keywords).findings]


class TestDetails:
    @pytest.mark.parametrize(
        ("text", "values"),
        [
            ("My email is Yu.Rossi@Example.com.", ["yu.rossi@example.com"]),
            ("Order #W2378156, please.", ["w2378156"]),
            ("I am yusuf_rossi_9620", ["yusuf_rossi_9620"]),
            ("on May 17th, 2024", ["05-17"]),
            ("on the 17th of May", ["05-17"]),
            ("on 2024-05-17", ["05-17"]),
            ("on 05/17/2024", ["05-17"]),
            ("call (555) 123-2002", ["5551232002"]),
            ("it costs $1,200.50", ["1200.50"]),
            ("my zip is 01234", ["01234"]),
            ("2 bags, 16GB, the 2nd one, 4G, at 10am, 1080p, USB3", []),
            ("May I have 3 of them?", []),
        ],
    )
    def test_details_of_a_text(self, text: str, values: list[str]) -> None:
        assert [each.value for each in details_in(text)] == values

    @pytest.mark.parametrize(
        ("given", "said"),
        [
            ("the prices are 120.50 and 99.50", "220 in total"),
            ("the prices are 320 and 99", "that is 221 less"),
            ("it costs $1,234.56", "about 1235"),
            ("from May 17", "I leave on May 18"),
            ("your id is yusuf_rossi_9620", "it ends with 9620"),
            ("no price was named", "at most 500"),
            ("call 555-123-2002", "call 5551232002"),
        ],
    )
    def test_what_follows_from_what_was_given(self, given: str, said: str) -> None:
        known = Known([given])
        assert details_in(said)
        assert all(known.has(each) for each in details_in(said))

    def test_what_does_not_follow(self) -> None:
        known = Known(["order #W2378156 of May 17, $120"])
        for said in ("#W2378157", "June 17", "a@b.org", "zip 90210", "123-456-7890"):
            assert [each for each in details_in(said) if not known.has(each)], said


class TestMadeUp:
    def test_a_detail_from_nowhere(self) -> None:
        messages = conversation("I want to return order #W2378156.", "Your zip code?", "It is 90210.")
        (finding,) = check_user(a_task(), messages).findings
        assert (finding.check, finding.message_idx) == ("made-up-detail", 3)
        assert finding.text == "made-up-detail, message 3: the number 90210 was given nowhere: 'It is 90210.'"

    def test_what_the_conversation_has_given_before_is_no_fault(self) -> None:
        messages = conversation("Hi.", "Is it order #W9999999?", "Yes, #W9999999.")
        assert found(a_task(), messages) == []
        results: list[Message] = [
            AssistantMessage(tool_calls=[ToolCall(id="1", name="find", arguments={"order": "#W8888888"})]),
            ToolMessage(id="1", content="delivered on 2024-06-01"),
        ]
        later = [*conversation("Hi."), *results, UserMessage(content="#W8888888 came on June 1.")]
        assert found(a_task(), later) == []

    @pytest.mark.parametrize(
        ("scenario", "asked", "faults"),
        [
            ("Book a flight to Rome.", "On which date, please?", 0),
            ("Book a flight to Rome.", "What is your name?", 1),
            ("Book a flight to Rome on May 20.", "When is your birthday?", 1),
            ("Change the flight to Rome.", "On which date is it?", 1),  # a record has it
        ],
    )
    def test_a_date_that_the_scenario_lacks_is_the_tasks(self, scenario: str, asked: str, faults: int) -> None:
        task = a_task(scenario)
        assert len(found(task, conversation("Hi.", asked, "On October 15th."))) == faults

    def test_a_detail_is_found_once(self) -> None:
        messages = conversation("Zip 90210.", "Again?", "Zip 90210.")
        assert found(a_task(), messages) == [("made-up-detail", 1)]

    def test_the_history_of_a_task_is_not_the_users(self) -> None:
        history = [{"role": "assistant", "content": GREETING}, {"role": "user", "content": "Zip 90210."}]
        task = a_task(initial_state={"message_history": history})
        assert found(task, conversation("Zip 90210.", "Thanks.", "Bye. ###STOP###")) == []


class TestStops:
    @pytest.mark.parametrize(
        "asked",
        [
            "I will return the desk. Do you confirm? (yes/no)",
            "The refund is $12. Would you like me to proceed?",
            "Please confirm these details, and I will go ahead.",
        ],
    )
    def test_agreeing_and_stopping(self, asked: str) -> None:
        assert found(a_task(), conversation("Hello.", asked, "Yes, please proceed. ###STOP###")) == [
            ("stop-while-asked", 3)
        ]

    @pytest.mark.parametrize(
        ("asked", "said"),
        [
            ("I will return the desk. Do you confirm?", "No, do not do that. ###STOP###"),
            ("I will return the desk. Do you confirm?", "Thanks, that was all. ###STOP###"),
            ("It is done. Is there anything else?", "Yes, that was all, go ahead. ###STOP###"),
            ("Do you confirm that I transfer you to a human agent?", "Yes, please. ###STOP###"),
            ("I will return the desk. Do you confirm?", "Yes, please. ###TRANSFER###"),
            ("I will return the desk. Do you confirm?", "Yes, please."),
        ],
    )
    def test_other_ends(self, asked: str, said: str) -> None:
        assert found(a_task(), conversation("Hello.", asked, said)) == []

    def scripted(self) -> Task:
        requests = [{"say": "I want to return a desk."}, {"say": "Please update my address."}]
        return parse_task({"id": "t", "user_scenario": {"instructions": "You …", "script": {"requests": requests}}})

    def test_a_stop_before_the_last_request_of_a_script(self) -> None:
        messages = conversation("A desk goes back.", "It is done.", "Thanks. ###STOP###")
        assert found(self.scripted(), messages) == [("stop-before-request", 3)]

    def test_a_stop_without_a_word(self) -> None:
        assert found(a_task(), conversation("###STOP###")) == [("stop-before-request", 1)]
        assert found(a_task(), conversation("Hello.", "Hm.", "###STOP###")) == []
        called = UserMessage(tool_calls=[ToolCall(id="1", name="look", requestor="user")])
        assert found(a_task(), [*conversation(), called, *conversation("###STOP###")[1:]]) == []

    def test_a_request_in_other_words_and_a_refusal(self) -> None:
        asked = conversation("A desk goes back.", "Done.", "My new address, too.", "Done.", "Bye. ###STOP###")
        assert found(self.scripted(), asked) == []
        refused = conversation("A desk goes back.", "Unfortunately I cannot do that.", "Bye. ###STOP###")
        assert found(self.scripted(), refused) == []

    def with_actions(self) -> Task:
        calls = [{"action_id": id_, "name": "get", "arguments": {"id": id_, "order_id": id_}} for id_ in ("#W1111111",)]
        return a_task("You want to return order #W1111111.", evaluation_criteria={"actions": calls})

    def test_an_id_of_the_scenario_that_is_never_mentioned(self) -> None:
        task = self.with_actions()
        assert found(task, conversation("Hello.", "Hm.", "Bye. ###STOP###")) == [("stop-before-request", 3)]
        assert found(task, conversation("#W1111111", "Done.", "Bye. ###STOP###")) == []

    def test_the_outcome_that_was_reached_says_what_the_user_had_to_ask_for(self) -> None:
        task = self.with_actions()
        criteria = task.criteria.model_copy(update={"outcomes": [Outcome(actions=[], why="it may leave it")]})
        task = task.model_copy(update={"evaluation_criteria": criteria})
        simulation = Simulation(id="s", task_id="t", termination_reason="user_stop")
        simulation.messages = conversation("Hello.", "Hm.", "Bye. ###STOP###")
        check = DBCheck(db_match=True, db_reward=1)
        simulation.reward_info = RewardInfo(reward=1, db_check=check)
        assert check_simulation(simulation, task, None).faults == "stop-before-request"
        simulation.reward_info.outcome = OutcomeCheck(position=0, why="it may leave it")
        assert not check_simulation(simulation, task, None).faults


class TestSecrets:
    TASK = "Your order is #W2378156. The right item is 5206946487 (do not share this with the agent)."

    def test_a_secret_that_is_given_away(self) -> None:
        assert found(a_task(self.TASK), conversation("I want item 5206946487.")) == [("unasked-secret", 1)]

    def test_the_agent_has_named_it_first(self) -> None:
        messages = conversation("I want another item.", "Item 5206946487?", "Yes, 5206946487.")
        assert found(a_task(self.TASK), messages) == []

    def test_what_may_be_said_if_asked(self) -> None:
        task = a_task("Do not mention the gift card gift_card_123 unless the agent asks.")
        asked = conversation("Hello.", "How do you want to pay?", "By gift_card_123.")
        assert found(task, asked) == []
        assert found(task, conversation("I pay by gift_card_123.")) == [("unasked-secret", 1)]


class TestDevice:
    @staticmethod
    def made(agent: str, tool: str = "toggle_airplane_mode") -> list[Message]:
        call = ToolCall(id="1", name=tool, arguments={}, requestor="user")
        return [
            *conversation("My phone is slow.", agent),
            UserMessage(tool_calls=[call]),
            ToolMessage(id="1", content="ok", requestor="user"),
        ]

    @pytest.fixture
    def telecom(self) -> Any:
        return pytest_tau.load_domain("telecom")

    def test_a_change_that_nobody_asked_for(self, telecom: Any) -> None:
        messages = self.made("Which line is it?")
        assert found(a_task("Your phone is slow."), messages, telecom) == [("unasked-action", 3)]
        # Without the domain, it is not known what changes anything.
        assert found(a_task("Your phone is slow."), messages) == []

    @pytest.mark.parametrize(
        ("agent", "tool"),
        [
            ("Please turn off airplane mode.", "toggle_airplane_mode"),
            ("Please switch on flight mode for a moment.", "toggle_airplane_mode"),
            ("Call toggle_airplane_mode().", "toggle_airplane_mode"),
            ("Which line is it?", "check_status_bar"),
        ],
    )
    def test_what_was_asked_for_and_what_only_looks(self, telecom: Any, agent: str, tool: str) -> None:
        assert found(a_task("Your phone is slow."), self.made(agent, tool), telecom) == []


def test_excused_checks_are_not_made() -> None:
    validity = check_user(a_task(), conversation("Zip 90210."), excused=("made-up-detail",))
    assert (validity.findings, validity.excused, validity.valid) == ((), ("made-up-detail",), True)


def test_a_check_that_raises_is_named_and_loses_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(conversation: Any) -> Any:
        raise KeyError("x")

    monkeypatch.setattr("pytest_tau.capabilities.user_validity.checks.CHECKS", (Check("broken", "", broken), *CHECKS))
    validity = check_user(a_task(), conversation("Zip 90210."))
    assert validity.unchecked == "broken: KeyError: 'x'"
    assert validity.checks == ("made-up-detail",)


class TestStored:
    def simulation(self, *texts: str) -> Simulation:
        return Simulation(id="s", task_id="t", termination_reason="user_stop", messages=conversation(*texts))

    def test_it_is_stored_and_read(self) -> None:
        simulation = self.simulation("Zip 90210.")
        checked = check_simulation(simulation, a_task(), None)
        assert (checked.valid, checked.faults) == (0, "made-up-detail")
        simulation.facts = {capability.name: checked.model_dump(mode="json")}
        again = Simulation.model_validate_json(simulation.model_dump_json())
        assert capability.read(again.facts) == checked

    def test_there_is_no_fault_without_a_user(self) -> None:
        assert check_simulation(self.simulation("Hello."), a_task(), None) == UserFacts()
        assert check_simulation(self.simulation(), a_task(), None) == UserFacts()

    @pytest.mark.parametrize("entry", ["x", [], {"findings": 3}, {"findings": [3, {"check": 1}]}, {"excused": 5}])
    def test_foreign_content_is_tolerated(self, entry: Any) -> None:
        assert capability.read({capability.name: entry}) is None


def measured(task: str = "t", check: str = "made-up-detail", **fields: Any) -> Measured:
    """A trial of which a check has found something; an empty name for none."""
    findings = [{"check": check, "message_idx": 1, "evidence": "x"}] if check else []
    facts = UserFacts(findings=findings)
    stored = {capability.name: facts.model_dump(mode="json")}
    return Measured(trial_record(task, facts=stored, **fields), facts)


FAILED: dict[str, Any] = {"outcome": "failed", "info": Notes(blame=Attribution("user"))}


def test_faults_in_variants_have_no_common_rate() -> None:
    trials = [measured(test=f"t::t[{name}-trial-0]") for name in ("one", "two")]
    assert comparison(Compared(trials, trials, [])) == ["faults of the user: 2 of 2 trials -> 2 of 2 trials"]
    assert comparison(Compared([measured(check="")], [measured(check="")], [])) == []


def test_failures_that_are_put_on_the_user_are_counted() -> None:
    doubtful = measured(check="", **FAILED | {"info": Notes(blame=Attribution("undecided"))})
    assert UserFaults.of([doubtful]).of_failures == []  # every message was understood
    undecided = doubtful._replace(facts=UserFacts(lost=1))
    trials = [measured(check="not-understood", **FAILED), undecided, measured(check="")]
    of_user = [
        "1 of 2 failures: the user did not understand the agent",
        "1 of 2 failures: undecided whether the agent or the user failed",
    ]
    assert UserFaults.of(trials).of_failures == of_user
    assert next(summary(trials)) == ", ".join(of_user)
    assert UserFaults.of(trials[2:]).of_failures == []


def test_a_user_that_was_lost_or_gave_up_is_in_the_summary_whoever_is_at_fault() -> None:
    passed = measured(check="")
    lost = Measured(passed.record, UserFacts(lost=2))
    gone = Measured(passed.record, UserFacts(lost=1, gave_up=True))
    assert UserFaults.of([passed]).of_scripted == ""
    assert list(summary([passed, lost])) == ["the scripted user did not understand 2 messages in 1 trial"]
    assert UserFaults.of([lost, gone]).of_scripted == (
        "the scripted user did not understand 3 messages in 2 trials and gave up in 1 trial"
    )
    assert UserFaults.of([Measured(passed.record, UserFacts(gave_up=True))]).of_scripted == (
        "the scripted user gave up in 1 trial"
    )


class TestTheMetric:
    COLUMNS = columns_of([capability])

    def value(self, *trials: Measured, **planned: int) -> Any:
        counts = {Group("", "", "mock", task): number for task, number in planned.items()}
        tasks = list(by_task([each.record for each in trials], counts).values())
        metric = metric_named("user_valid", self.COLUMNS)
        return metric.value(tasks), metric.interval(tasks), metric.reach(tasks), metric.lacking(tasks)

    def test_excluded_trials_count_and_errors_do_not(self) -> None:
        trials = [
            measured(check=""),
            measured(),
            measured(excluded="x"),
            measured(check=""),
            measured(outcome="error"),
        ]
        value, interval, *_ = self.value(*trials)
        assert (value, interval) == (0.5, ratio_interval([(2, 4)], proportion=True))
        assert self.value(*trials, t=9)[2] == (2 / 8, 6 / 8, True)
        assert self.value(measured(outcome="error"))[3] == "no trial has a verdict"

    @pytest.mark.parametrize("text", ["user_valid>=1", "user_valid<=0.6"])
    def test_it_is_a_metric_of_gates(self, text: str) -> None:
        assert Gate.parse(text, self.COLUMNS) == Gate.parse(text, self.COLUMNS)

    def test_a_bound_out_of_reach_is_refused(self) -> None:
        with pytest.raises(ConfigurationError, match="'user_valid < 0' can never be met, as user_valid is from 0 to 1"):
            Gate.parse("user_valid<0", self.COLUMNS)


def test_a_mistaken_user_is_no_fault_but_the_same_texts_of_another_are() -> None:
    domain = pytest_tau.load_domain("retail")
    task = next(each for each in domain.tasks() if each.id == "cancel-unneeded")
    simulation = pytest_tau.simulate(
        task,
        domain=domain,
        agent="rules",
        user="scripted",
        seed=3,
        settings=SimulationSettings(user_persona={"behaviour": {"mistaken": 1.0}}),
    )
    assert any("I was wrong before" in (each.content or "") for each in simulation.messages)
    assert capability.read(simulation.facts).checks == ()
    assert check_user(task, simulation.messages, domain).checks == ("made-up-detail",)


def test_behaviours_excuse_checks_that_there_are() -> None:
    assert {name for each in BEHAVIOURS.values() for name in each.excuses} <= {*CHECK_NAMES}


def test_the_page_has_every_check() -> None:
    from pathlib import Path

    page = (Path(__file__).parents[2] / "docs" / "users.md").read_text(encoding="utf-8")
    assert all(f"`{name}`" in page for name in CHECK_NAMES)


@pytest.mark.parametrize("text", ["x", "1", "a.", "a@", "1,", "$1", " ", "#"])
def test_a_huge_text_is_looked_through_in_linear_time(text):
    """Of a quadratic pattern this would take minutes."""
    assert isinstance(details_in(text * 100_000), list)
