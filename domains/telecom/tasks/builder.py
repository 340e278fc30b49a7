"""One task from one case: the problem, what is behind it, who calls, and whose line it is.

Source: τ²-bench v1.0.1, telecom tasks: which faults go together, their order, ids and criteria. The texts, and what
``thorough`` adds, are ours.
"""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING, NamedTuple

from pytest_tau.errors import TaskFormatError
from pytest_tau.models.tasks import (
    Action,
    Description,
    EnvAssertion,
    EvaluationCriteria,
    FunctionCall,
    InitialState,
    Instructions,
    Task,
    UserScenario,
)

from .catalogue import INTRODUCTION, line_status_is, refuelled_is
from .faults import REFUEL_GB, Call, Fault, Intent, Statement, Subject
from .stories import KNOWN, STORIES, Persona, instructions
from .user_scripts import script

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from pytest_tau.environment import Domain, Environment
    from pytest_tau.models import UserScript


class Case(NamedTuple):
    """What a task is made of; ``opening`` chooses among the story's reasons for the call."""

    intent: Intent
    faults: tuple[Fault, ...]
    persona: Persona
    subject: Subject
    opening: int = 0

    @property
    def task_id(self) -> str:
        """Such as ``mms.airplane+wifi-call.hurried``: short, and safe in shells and file names."""
        persona = () if self.persona.text is None else (self.persona.name.lower(),)
        return ".".join((self.intent.tag, "+".join(fault.tag for fault in self.faults), *persona))

    @property
    def reference_id(self) -> str:
        """Such as ``[mms_issue]bad_wifi_calling[PERSONA:None]``."""
        return f"[{self.intent.name}]{'|'.join(fault.name for fault in self.faults)}[PERSONA:{self.persona.name}]"

    @property
    def fixable(self) -> bool:
        """Whether the problem can be solved: every fault can."""
        return all(fault.fixable for fault in self.faults)


def combinations(intent: Intent) -> list[tuple[Fault, ...]]:
    """Every valid choice of faults, each sorted by name; the fewest faults first."""
    found = [
        tuple(sorted(filter(None, choice), key=lambda fault: fault.name))
        for choice in itertools.product(*((*group, None) for group in intent.groups))
        if any(choice[intent.core :])
    ]
    return sorted(found, key=len)


def compose(case: Case, *, thorough: bool = True) -> Task:
    """The task of a case.

    Args:
        case: What it is made of.
        thorough: A short id, a script for users without a model, and what the reference does not ask for: in the end
            the line's status and its refuelled data are right, and before a transfer the agent has looked at what
            makes it necessary.
    """
    actions = _actions(case, thorough=thorough)
    return Task(
        id=case.task_id if thorough else case.reference_id,
        description=_description(case),
        user_scenario=_scenario(case, scripted=thorough),
        ticket=_filled(STORIES[case.intent.name].ticket, case),
        initial_state=InitialState(initialization_actions=list(_start(case))),
        evaluation_criteria=EvaluationCriteria(
            actions=actions,
            env_assertions=[_assertion(statement, case.subject) for statement in _final_statements(case, thorough)],
            reward_basis=["ENV_ASSERTION"] if case.fixable else ["ENV_ASSERTION", "ACTION"],
        ),
    )


def _start(case: Case) -> Iterator[FunctionCall]:
    for call in (INTRODUCTION, *(call for fault in case.faults for call in fault.start)):
        yield FunctionCall(env_type=call.side, func_name=call.name, arguments=call.bound(case.subject))


def _actions(case: Case, *, thorough: bool) -> list[Action]:
    if case.fixable:
        return _numbered((call for fault in case.faults for call in fault.fix), case.subject)
    looked = (fault.diagnosis for fault in case.faults if fault.diagnosis and thorough)
    transfer = "transfer_to_human_agents"
    # The summary is free text: any transfer counts.
    arguments = {"summary": "I cannot fix the issue."}
    return [
        *_numbered(looked, case.subject),
        Action(action_id=transfer, name=transfer, arguments=arguments, compare_args=[]),
    ]


def _numbered(calls: Iterable[Call], subject: Subject) -> list[Action]:
    return [
        Action(action_id=f"{call.name}_{index}", requestor=call.side, name=call.name, arguments=call.bound(subject))
        for index, call in enumerate(calls)
    ]


def _final_statements(case: Case, thorough: bool) -> Iterator[Statement]:
    if case.fixable:
        goal, decisive = case.intent.goal, case.faults
    else:
        goal = case.intent.unsolved
        decisive = tuple(fault for fault in case.faults if thorough and not fault.fixable)
    yield from goal
    for fault in decisive:
        yield from fault.extra
    if not thorough:
        return
    if not any(fault.extra for fault in case.faults):
        yield refuelled_is(0.0)
    if not any(fault.line_status for fault in case.faults):
        yield line_status_is("Active")
    # A suspension that could be lifted, beside a fault that cannot be fixed: whether the agent got to it is left open.
    for fault in decisive:
        if fault.line_status:
            yield line_status_is(fault.line_status)


def _assertion(statement: Statement, subject: Subject) -> EnvAssertion:
    return EnvAssertion(
        env_type=statement.side,
        func_name=statement.name,
        arguments=statement.bound(subject),
        message=statement.message,
    )


def _description(case: Case) -> Description:
    causes = "; ".join(fault.summary for fault in case.faults)
    ways = " or ".join(fault.diagnosis.name for fault in case.faults if fault.diagnosis)
    end = "" if case.fixable else f" This cannot be solved: the agent has to find that out ({ways}) and to transfer."
    return Description(purpose=f"{STORIES[case.intent.name].title}. Behind it: {causes}.{end}")


def _scenario(case: Case, *, scripted: bool) -> UserScenario:
    story = STORIES[case.intent.name]
    openings = story.slow_openings if story.slow_openings and _only_slow(case) else story.openings
    told = Instructions(
        domain="telecom",
        reason_for_call=openings[case.opening % len(openings)],
        known_info=_filled(KNOWN, case),
        task_instructions=_filled(instructions(story), case),
    )
    return UserScenario(persona=case.persona.text, instructions=told, script=_script(case) if scripted else None)


def _script(case: Case) -> UserScript:
    return script(
        case.intent.name,
        case.subject,
        abroad=_is_abroad(case),
        slow=_only_slow(case),
        opening=case.opening,
        patience=case.persona.patience,
    )


def _filled(text: str, case: Case) -> str:
    story, subject = STORIES[case.intent.name], case.subject
    return text.format(
        name=subject.name,
        phone_number=subject.phone_number,
        location=subject.abroad if _is_abroad(case) else subject.home,
        refuel_gb=REFUEL_GB,
        symptom=story.slow_symptom if story.slow_symptom and _only_slow(case) else story.symptom,
    )


def _is_abroad(case: Case) -> bool:
    return any(call.name == "set_user_location" for fault in case.faults for call in fault.start)


def _only_slow(case: Case) -> bool:
    return all(fault.slows_only for fault in case.faults)


def verify(case: Case, task: Task, domain: Domain) -> None:
    """Play the task through.

    Raises:
        TaskFormatError: The problem is there before the faults are, or not after them; a fault does not show; a
            reference action fails or comes too late to be needed; the reference actions do not lead to the end that
            the task asks for, or doing nothing does although there is something to do.
    """

    def require(condition: bool, problem: str) -> None:
        if not condition:
            raise TaskFormatError(problem, task_id=task.id)

    goal = [_assertion(statement, case.subject) for statement in case.intent.goal]
    require(_all_hold(domain.environment(), goal), "the problem is there without any fault")
    _stage(case, domain.environment(), goal, require)
    environment = domain.environment(task)
    final = task.criteria.env_assertions or []
    require(not (case.fixable and _all_hold(environment, final)), "doing nothing passes")
    for action in task.criteria.actions or []:
        require(not _all_hold(environment, goal), f"the problem is gone before {action.action_id}")
        reply = environment.call(action.name, action.arguments, action.requestor)
        require(not reply.error, f"{action.action_id}: {reply.content}")
    require(_all_hold(environment, goal) is case.fixable, "the reference actions lead to the wrong end")
    require(_all_hold(environment, final), "an assertion does not hold after the reference actions")


def _stage(
    case: Case, environment: Environment, goal: list[EnvAssertion], require: Callable[[bool, str], None]
) -> None:
    """Bring in one fault after the other, and look whether each shows."""
    environment.run_function(INTRODUCTION.side, INTRODUCTION.name, INTRODUCTION.bound(case.subject))
    require(_all_hold(environment, goal), "the problem is there without any fault, once the line is known")
    for fault in case.faults:
        for call in fault.start:
            environment.run_function(call.side, call.name, call.bound(case.subject))
        checks = [_assertion(statement, case.subject) for statement in fault.checks]
        require(_all_hold(environment, checks), f"{fault.name} does not show")


def _all_hold(environment: Environment, assertions: Iterable[EnvAssertion]) -> bool:
    return all(
        environment.run_function(assertion.env_type, assertion.func_name, assertion.arguments) is assertion.assert_value
        for assertion in assertions
    )
