"""Mutants of agents: which there are, what each does in a conversation, and what decides on them."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from pytest_tau import load_domain
from pytest_tau.capabilities.mutants.calls import first_record, has_chance, with_other
from pytest_tau.capabilities.mutants.given import changed_context, given_mutants
from pytest_tau.capabilities.mutants.lint import noticed_faults
from pytest_tau.capabilities.mutants.mutant import Mutant
from pytest_tau.capabilities.mutants.trials import Trials
from pytest_tau.capabilities.mutants.verdicts import Judge, Score, Verdict, mutants_of, play_base
from pytest_tau.chat import LLM, ChatReply, Usage
from pytest_tau.environment import Tool
from pytest_tau.errors import BudgetError, ConfigurationError
from pytest_tau.models import Call, ToolCall, ToolMessage, parse_task
from pytest_tau.participants import ParticipantContext
from pytest_tau.testing import call

from .tiny import task as tiny_task

if TYPE_CHECKING:
    from pathlib import Path

    from pytest_tau.models import Task

    from .commands import Tau

RULE = "A task needs a title; ask for it if it is missing."
TITLE = "Order new chairs"


def tool(name: str, **properties: Any) -> Tool:
    return Tool(name, f"About {name}.", {"type": "object", "properties": properties}, "read", mutates=False)


def made(name: str, result: Any = "done", error: bool = False, **arguments: Any) -> Call:
    content = result if isinstance(result, str) else json.dumps(result)
    return Call(1, ToolCall(id="c", name=name, arguments=arguments), ToolMessage(id="c", content=content, error=error))


class Please:
    """A user that asks, and is content with the second text of the agent."""

    def __init__(self) -> None:
        self.said = 0

    def respond(self, _: Any) -> str:
        self.said += 1
        return "Please put 'Order new chairs' on the list of user_1." if self.said == 1 else "###STOP###"


class Clerk:
    """An agent that creates the task if the policy has a sentence, and looks at the users before and after."""

    def __init__(self, tools: Any, policy: str, seed: int) -> None:
        self.policy, self.seed, self.step, self.tools = policy, seed, 0, [tool.name for tool in tools]

    def respond(self, message: Any) -> Any:
        self.step += 1
        title = TITLE if RULE in self.policy else "Something"
        steps = [call("get_users"), call("create_task", user_id="user_1", title=title), "It is on the list."]
        return steps[min(self.step, 3) - 1]


class Moody(Clerk):
    """An agent that forgets the task in one of four trials."""

    def respond(self, message: Any) -> Any:
        if self.seed % 4 == 0 and self.step == 1:
            self.step = 2
        return super().respond(message)


def tasks(number: int) -> list[Task]:
    """Return copies of one task of mock under several ids."""
    (one,) = (task for task in load_domain("mock").tasks() if task.id == "create-task")
    return [
        parse_task(one.model_dump(mode="json", exclude_none=True) | {"id": f"task-{each}"}) for each in range(number)
    ]


def judged(agent: Any, *mutants: Mutant, number: int = 1, trials: int = 2, **settings: Any) -> list[Verdict]:
    played = Trials(load_domain("mock"), agent, Please, **settings)
    base = play_base(played, tasks(number), trials)
    assert base.failed == []
    return [*Judge(played, base, trials).verdicts(mutants)]


def test_mutants_of_a_policy_and_of_tools() -> None:
    policy = "# Bags\n\nA silver member has 2 free bags on W-12.\nPay by credit card or not at all."
    tools = [tool("b", kind={"enum": ["silver", "gold"]}), tool("a"), tool("c")]
    found = [*given_mutants(policy, tools)]
    assert [(mutant.kind, mutant.new or mutant.tool) for mutant in found] == [
        ("sentence-dropped", ""),
        ("sentence-changed", "A silver member has 3 free bags on W-12."),
        ("sentence-changed", "A gold member has 2 free bags on W-12."),
        ("sentence-dropped", ""),
        ("descriptions-swapped", "a"),
    ]
    context = ParticipantContext("agent", tools, policy, tiny_task())
    changed = [changed_context(context, [mutant]) for mutant in found]
    assert "silver" not in changed[0].instructions
    assert "has 3 free" in changed[1].instructions
    assert [each.description for each in changed[4].tools] == ["About b.", "About c.", "About a."]
    gone = changed_context(context, [Mutant("tool-gone", "a")])
    assert [each.name for each in gone.tools] == ["b", "c"]


@pytest.mark.parametrize(
    ("content", "cut"),
    [
        ("[1, 2]", "[1]"),
        ('{"items": [{"id": 1}, {"id": 2}], "name": "x"}', '{"items": [{"id": 1}], "name": "x"}'),
        ('{"a": {"price": 1}, "b": {"price": 2}}', '{"a": {"price": 1}}'),
        # Not several records of a kind.
        ('{"address": {"city": "Rome"}, "name": {"first": "Ada"}}', None),
        ('{"id": 1}', None),
        ("no JSON", None),
    ],
)
def test_the_first_of_several_records(content: str, cut: str | None) -> None:
    assert json.loads(first_record(content)) == json.loads(cut) if cut else first_record(content) == content


def test_another_value_of_an_argument() -> None:
    pool = {("t", "id"): ["W1", "W2", "gift"], ("t", "flag"): [True]}
    assert with_other({"id": "W1", "n": 1}, "id", "t", pool) == {"id": "W2", "n": 1}
    assert with_other({"id": "gift"}, "id", "t", {}) is None  # no other is known
    assert with_other({"n": 1}, "n", "t", pool) == {"n": 2}
    assert with_other({"flag": True}, "flag", "t", pool) == {"flag": False}
    assert with_other({"ids": ["a", "b"]}, "ids", "t", pool) == {"ids": ["a"]}
    assert with_other({"n": 1}, "id", "t", pool) is None


def test_a_fault_has_a_chance_where_it_takes_effect() -> None:
    twice = [made("get", {"status": "open"}, id="1"), made("get", {"status": "shut"}, id="1")]
    assert has_chance(Mutant("result-old", "get"), twice, {})
    assert not has_chance(Mutant("result-old", "get"), twice[:1], {})
    assert not has_chance(Mutant("result-first", "get"), twice, {})
    assert has_chance(Mutant("result-first", "get"), [made("get", [1, 2])], {})
    assert not has_chance(Mutant("result-first", "get"), [made("get", [1, 2], error=True)], {})
    assert has_chance(Mutant("tool-gone", "get"), twice, {})
    assert not has_chance(Mutant("tool-gone", "put"), twice, {})


def test_one_trial_decides_if_the_agent_never_varies() -> None:
    dropped = Mutant("sentence-dropped", detail=RULE)
    other = Mutant("sentence-dropped", detail="Not allowed, neither by you nor on request")
    omitted, twice = Mutant("call-omitted", "create_task"), Mutant("call-twice", "create_task")
    gone, unused = Mutant("tool-gone", "get_users"), Mutant("tool-gone", "update_task_status")
    found = judged(Clerk, dropped, other, omitted, twice, gone, unused)
    assert [verdict.outcome for verdict in found] == [
        "killed", "equivalent", "killed", "killed", "survived", "equivalent"
    ]  # fmt: skip
    assert [verdict.trials for verdict in found] == [1, 0, 1, 1, 1, 0]
    assert found[4].tasks == ("task-0",)
    assert found[4].notice == "a task that cannot be done without get_users"
    assert found[5].why == "update_task_status is not called in any task"


def test_an_agent_that_varies_is_decided_by_a_significant_loss() -> None:
    omitted, gone = Mutant("call-omitted", "create_task"), Mutant("tool-gone", "get_users")
    killed, survived = judged(Moody, omitted, gone, number=6, trials=4)
    # Whatever the sixth task shows, the loss of five is significant, and that of one is not.
    assert (killed.outcome, killed.trials) == ("killed", 20)
    assert killed.why.startswith("pass^1 0.750 -> 0.000 over 5 tasks, p = 0.0")
    assert killed.why.endswith("; 1 task more cannot change that")
    assert (survived.outcome, survived.why[:22]) == ("survived", "pass^1 0.750 -> 0.750 ")
    assert survived.trials < 24
    # Too few tasks prove nothing, and the second one is not played.
    (undecided,) = judged(Moody, omitted, number=2, trials=4)
    assert (undecided.outcome, undecided.trials) == ("survived", 4)


def test_tasks_that_can_change_the_outcome_are_played() -> None:
    (killed,) = judged(Moody, Mutant("call-omitted", "create_task"), number=5, trials=4)
    assert (killed.outcome, killed.trials) == ("killed", 20)


def test_an_agent_that_varies_plays_the_tasks_that_a_sentence_is_about() -> None:
    played = Trials(load_domain("mock"), Moody, Please)
    chosen = tasks(3)
    scenario = chosen[1].user_scenario.model_copy(update={"persona": "Wants a refund of luggage fees."})
    chosen[1] = chosen[1].model_copy(update={"user_scenario": scenario})
    judge = Judge(played, play_base(played, chosen, 4), 4, most=2)
    found = judge.candidates(Mutant("sentence-dropped", detail="Refund the fee for luggage within 5 days."))
    assert [task.id for task in found] == ["task-1", "task-0"]
    assert judge.candidates(Mutant("descriptions-swapped", "update_task_status", "transfer_to_human_agents")) == []
    assert len(judge.candidates(Mutant("descriptions-swapped", "get_users", "update_task_status"))) == 2


def test_mutants_follow_from_the_calls_of_the_agent() -> None:
    played = Trials(load_domain("mock"), Clerk, Please)
    environment = load_domain("mock").environment()
    tools = environment.shared_tools("assistant")
    found = {(each.kind, each.tool, each.detail) for each in mutants_of(play_base(played, tasks(1), 1), "", tools)}
    assert ("argument-changed", "create_task", "title") in found
    assert ("argument-changed", "create_task", "description") not in found
    assert ("call-twice", "create_task", "") in found
    assert ("call-twice", "get_users", "") not in found
    assert ("result-first", "get_users", "") in found


def test_the_score_has_an_interval_and_leaves_out_what_is_equivalent() -> None:
    outcomes = ["killed"] * 9 + ["survived"] + ["equivalent"] * 5
    score = Score.of([Verdict(Mutant("tool-gone", "t"), outcome) for outcome in outcomes])  # type: ignore[arg-type]
    assert (score.rate, score.equivalent) == (0.9, 5)
    assert score.interval is not None
    assert score.interval.format() == "0.596 to 0.982"
    assert Score.of([]).rate is None


class Model:
    """A model that makes the call, and then says so; each answer costs half a dollar."""

    def __init__(self) -> None:
        self.requests = 0

    async def complete(self, request: Any) -> ChatReply:
        self.requests += 1
        if request.messages[-1]["role"] == "tool":
            message: dict[str, Any] = {"role": "assistant", "content": "It is on the list."}
        else:
            arguments = json.dumps({"user_id": "user_1", "title": TITLE})
            function = {"name": "create_task", "arguments": arguments}
            message = {
                "role": "assistant",
                "content": None,
                "tool_calls": [{"id": "1", "type": "function", "function": function}],
            }
        return ChatReply(message=message, usage=Usage(prompt_tokens=5, completion_tokens=2), cost=0.5, seconds=0.1)


def test_a_budget_ends_the_trials_of_a_model() -> None:
    model = Model()
    llms: Any = {"agent": LLM("scripted", model)}
    played = Trials(load_domain("mock"), "llm", Please, llms=llms, budget=2.0)
    assert not played.never_varies
    base = play_base(played, tasks(1), 2)
    assert (played.spent, base.steady) == (2.0, False)
    with pytest.raises(BudgetError, match=r"the budget of \$2 is spent \(\$2.00\)"):
        list(Judge(played, base, 2).verdicts([Mutant("call-omitted", "create_task")]))


def test_recorded_calls_of_a_model_are_replayed(tmp_path: Path) -> None:
    omitted = Mutant("call-omitted", "create_task")
    first, second = Model(), Model()
    for model in (first, second):
        llms: Any = {"agent": LLM("scripted", model)}
        (verdict,) = judged("llm", omitted, number=1, llms=llms, cassettes=tmp_path)
        assert verdict.why.startswith("pass^1 1.000 -> 0.000")
    assert first.requests > 0
    assert second.requests == 0


def test_agents_that_cannot_be_made_faulty() -> None:
    with pytest.raises(ConfigurationError, match="agent 'gold' is given the reference actions"):
        Trials(load_domain("mock"), "gold")


def test_the_command_shows_survivors_and_the_score(tau: Tau) -> None:
    shown = tau("mutants", "retail", "--tau-agent", "rules", "--select", "cancel-un*", "--mutant", "tool-gone")
    assert shown.status == 0
    assert shown.lines[0] == "mutants of rules on retail: 1 task"
    assert "plan: 1 of 1 task passed without a fault; 16 mutants" in shown.err
    assert shown.lines[-1].startswith("score 1.000 (95 % interval ")
    rows = ("--select", "cancel-un*", "--mutant", "result-first", "--mutant", "tool-gone")
    result = tau("mutants", "retail", "--tau-agent", "rules", *rows, "--json").json
    assert (result["never_varies"], result["survived"], result["score"]) == (True, 0, 1.0)
    assert {mutant["outcome"] for mutant in result["mutants"]} == {"killed", "equivalent"}


def test_the_command_fails_below_a_score_and_says_what_it_cannot_use(tau: Tau) -> None:
    selected = ("mutants", "retail", "--select", "cancel-un*", "--mutant", "descriptions-swapped")
    # None of them is decided, so that no score is reached.
    failed = tau(*selected, "--tau-agent", "rules", "--min-score", "0.5")
    assert (failed.status, failed.lines[-1]) == (1, "score: none, as no mutant was decided; 8 equivalent")
    assert tau(*selected, "--tau-agent", "rules", "--min-score", "90").status == 2
    assert "expected an amount in USD above 0" in tau(*selected, "--tau-agent", "rules", "--tau-budget", "0").err
    none = tau(*selected, "--tau-agent", "noop")
    assert (none.status, "passes none of 1 task" in none.err) == (2, True)
    planned = tau(*selected, "--tau-agent", "rules", "--dry-run")
    assert (planned.status, planned.out) == (0, "")
    assert "plan: 1 of 1 task passed without a fault; 8 mutants, at most 4 trials" in planned.err

    # That of a model calls none, and needs no key.
    model = tau(*selected, "--tau-agent", "llm", "--tau-agent-llm", "openai/gpt-4.1", "--max-tasks", "5", "--dry-run")
    assert (model.status, model.out) == (0, "")
    assert "plan: 1 task of retail, 4 trials of each without a fault" in model.err
    assert "those of its calls: 5 tasks x 4 trials each" in model.err


#: The survivors of the rules agents, of which docs/rules_agents.md says why no task notices them.
SURVIVORS = {
    "airline": ["booked within the last 25 hours", "within 6 to 7 business days", "within 5 to 8 business days"],
    "retail": ["within 6 to 7 business days", "within 5 to 8 business days"],
    "telecom": ["Then send this notice, with nothing added"],
    "banking_knowledge": [],
}


@pytest.mark.exhaustive
@pytest.mark.parametrize("domain", SURVIVORS)
def test_bundled_tasks_notice_nine_of_ten_faults_of_the_rules_agents(tau: Tau, domain: str) -> None:
    result = tau("mutants", domain, "--tau-agent", "rules", "--json").json
    assert result["score"] >= 0.9
    survived = [mutant["text"] for mutant in result["mutants"] if mutant["outcome"] == "survived"]
    assert len(survived) == len(SURVIVORS[domain]), survived
    assert all(part in text for part, text in zip(SURVIVORS[domain], survived, strict=True))
    assert f"mutants: score {result['score']:.3f} (" in tau("lint", domain).out


def test_a_sentence_whose_change_has_an_effect_is_not_equivalent_if_dropping_it_has_none(tau: Tau) -> None:
    tasks = ("--select", "bags-p*")
    result = tau("mutants", "airline", "--tau-agent", "rules", *tasks, "--mutant", "sentence-changed", "--json").json
    fee = next(mutant for mutant in result["mutants"] if "Each bag beyond that costs $51" in mutant["text"])
    assert fee["outcome"] == "killed"


AGENT = f"""
from pytest_tau.testing import ScriptedParticipant, call


class Agent(ScriptedParticipant):
    def __init__(self):
        super().__init__([call("create_task", user_id="user_1", title="{TITLE}"), "Done."])
"""


def test_lint_has_the_faults_of_the_references_until_all_tasks_were_played(tau: Tau, tmp_path: Path) -> None:
    (tmp_path / "agent.py").write_text(AGENT, encoding="utf-8")
    line = "mutants: 6 of 6 faults in changes of the references show"
    assert line in tau("lint", "mock").out
    selected = ("--tau-agent", "agent.py:Agent", "--tau-user", "gold", "--mutant", "tool-gone", "--select")
    assert tau("mutants", "mock", *selected, "create-task").status == 0
    assert line in tau("lint", "mock").out


def test_all_faults_in_the_references_of_retail_show() -> None:
    domain = load_domain("retail")
    noticed = noticed_faults(domain, domain.tasks())
    assert (len(noticed), all(noticed.values())) == (31, True)


def test_a_fault_in_a_reference_shows_if_the_end_state_is_graded() -> None:
    domain = load_domain("mock")
    task = next(task for task in domain.tasks() if any(each.name == "create_task" for each in task.criteria.actions))
    assert all(noticed_faults(domain, [task]).values())
    criteria = task.criteria.model_copy(update={"reward_basis": ["COMMUNICATE"]})
    assert noticed_faults(domain, [task.model_copy(update={"evaluation_criteria": criteria})]) == {}


def test_each_number_of_a_sentence_is_changed() -> None:
    found = given_mutants("| gold | 2 bags | three cards, one of ten on 2024-05-15 |", [])
    assert [mutant.new for mutant in found if mutant.kind == "sentence-changed"] == [
        "| gold | 3 bags | three cards, one of ten on 2024-05-15 |",
        "| gold | 2 bags | four cards, one of ten on 2024-05-15 |",
    ]
