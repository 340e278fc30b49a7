"""Construction of one task from one scenario.

Source: τ²-bench v1.0.1, telecom tasks: which faults go together, their order, ids and criteria. The texts, and what
``thorough`` adds, are ours.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from pytest_tau.models.tasks import (
    CLUSTER,
    Action,
    Description,
    EvaluationCriteria,
    FunctionCall,
    InitialState,
    Instructions,
    Task,
    UserScenario,
)

from ..constants import MAX_REFUEL_GB
from .catalogue import INTRODUCTION, line_status_is, refuelled_is
from .stories import KNOWN, STORIES, instructions
from .user_scripts import build_script

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from pytest_tau.models import UserScript

    from .faults import Call, Statement, Subject
    from .scenario import FaultScenario


def build_task(scenario: FaultScenario, *, thorough: bool = True) -> Task:
    """Build the task of a scenario.

    Args:
        scenario: The problem, its causes and the caller.
        thorough: Give the task a short id, a cluster, a script for users without a model, and criteria that the
            reference does not have: at the end the line's status and its refuelled data are right, and before a
            transfer the agent has looked at what makes it necessary.
    """
    statements = _final_statements(scenario, thorough)
    return Task(
        id=scenario.task_id if thorough else scenario.reference_id,
        description=_description(scenario),
        user_scenario=_user_scenario(scenario, scripted=thorough),
        ticket=_filled(STORIES[scenario.intent.name].ticket, scenario),
        initial_state=InitialState(initialization_actions=list(_initial_calls(scenario))),
        evaluation_criteria=EvaluationCriteria(
            actions=_actions(scenario, thorough=thorough),
            env_assertions=[statement.env_assertion(scenario.subject) for statement in statements],
            reward_basis=["ENV_ASSERTION"] if scenario.fixable else ["ENV_ASSERTION", "ACTION"],
        ),
        annotations={CLUSTER: scenario.cluster} if thorough else None,
    )


def _initial_calls(scenario: FaultScenario) -> Iterator[FunctionCall]:
    for call in (INTRODUCTION, *(call for fault in scenario.faults for call in fault.start)):
        yield FunctionCall(env_type=call.side, func_name=call.name, arguments=call.bound(scenario.subject))


def _actions(scenario: FaultScenario, *, thorough: bool) -> list[Action]:
    if scenario.fixable:
        return _numbered((call for fault in scenario.faults for call in fault.fix), scenario.subject)
    diagnoses = (fault.diagnosis for fault in scenario.faults if fault.diagnosis and thorough)
    transfer = "transfer_to_human_agents"
    # The summary is free text: any transfer counts.
    arguments = {"summary": "I cannot fix the issue."}
    return [
        *_numbered(diagnoses, scenario.subject),
        Action(action_id=transfer, name=transfer, arguments=arguments, compare_args=[]),
    ]


def _numbered(calls: Iterable[Call], subject: Subject) -> list[Action]:
    return [
        Action(action_id=f"{call.name}_{index}", requestor=call.side, name=call.name, arguments=call.bound(subject))
        for index, call in enumerate(calls)
    ]


def _final_statements(scenario: FaultScenario, thorough: bool) -> Iterator[Statement]:
    if scenario.fixable:
        goal, decisive = scenario.intent.goal, scenario.faults
    else:
        goal = scenario.intent.unsolved
        decisive = tuple(fault for fault in scenario.faults if thorough and not fault.fixable)
    yield from goal
    for fault in decisive:
        yield from fault.extra
    if not thorough:
        return
    if not any(fault.extra for fault in scenario.faults):
        yield refuelled_is(0.0)
    if not any(fault.line_status for fault in scenario.faults):
        yield line_status_is("Active")
    # If a suspension could be lifted while another fault cannot be fixed, the line may end in either status: it depends
    # on the order in which the agent works.
    for fault in decisive:
        if fault.line_status:
            yield line_status_is(fault.line_status)


def _description(scenario: FaultScenario) -> Description:
    causes = "; ".join(fault.summary for fault in scenario.faults)
    diagnoses = " or ".join(fault.diagnosis.name for fault in scenario.faults if fault.diagnosis)
    end = (
        ""
        if scenario.fixable
        else f" This cannot be solved: the agent has to find that out ({diagnoses}) and to transfer."
    )
    return Description(purpose=f"{STORIES[scenario.intent.name].title}. Behind it: {causes}.{end}")


def _user_scenario(scenario: FaultScenario, *, scripted: bool) -> UserScenario:
    story = STORIES[scenario.intent.name]
    openings = story.slow_openings if story.slow_openings and scenario.slow_only else story.openings
    prose = Instructions(
        domain="telecom",
        reason_for_call=openings[scenario.opening % len(openings)],
        known_info=_filled(KNOWN, scenario),
        task_instructions=_filled(instructions(story), scenario),
    )
    script = _script(scenario) if scripted else None
    return UserScenario(persona=scenario.persona.text, instructions=prose, script=script)


def _script(scenario: FaultScenario) -> UserScript:
    return build_script(
        scenario.intent.name,
        scenario.subject,
        abroad=scenario.abroad,
        slow=scenario.slow_only,
        opening=scenario.opening,
        patience=scenario.persona.patience,
    )


def _filled(text: str, scenario: FaultScenario) -> str:
    story, subject = STORIES[scenario.intent.name], scenario.subject
    return text.format(
        name=subject.name,
        phone_number=subject.phone_number,
        location=subject.abroad if scenario.abroad else subject.home,
        refuel_gb=MAX_REFUEL_GB,
        symptom=story.slow_symptom if story.slow_symptom and scenario.slow_only else story.symptom,
    )
