"""Tasks from scenarios: a scenario has a draft for each case that it fits, and a draft becomes a task.

The case whose customer has been in the fewest tasks is taken, so that a database from another seed gives a set of its
own, or names the scenario that no customer fits.
"""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, TypeAlias

from pytest_tau.errors import ConfigurationError
from pytest_tau.models import UserScript
from pytest_tau.models.tasks import (
    Action,
    Description,
    EvaluationCriteria,
    Instructions,
    Task,
    UserScenario,
)

from ..._kit import combine
from ..._kit.combine import Call
from ..._kit.formatting import join_sentences
from ..._kit.scenario_tables import Texts
from ..._kit.transfer import TRANSFER
from ..._kit.user_script import patience
from .calls import calls_of
from .cases import find_cases
from .data.places import PLACES
from .personas import PATIENCE
from .texts import write

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from pytest_tau.models import Request

    from ..._kit.cases import Step
    from ..models import User
    from .cases import Case
    from .world import World

_CLOSING = (
    "Once you are told that all is done, or have your answers, say goodbye. Ask for nothing that is not named here."
)
_CONSENT = "When the agent sums up just what you want, say yes."
#: Where fewer arguments are compared: a summary is free text, and for the tool a name in capitals is the same name.
_COMPARED = {TRANSFER: list[str](), "find_user_id_by_name_zip": ["zip"]}
_ORDER_ID = re.compile(r"#W\d{7}")
_CENTS = re.compile(r"\d+\.(\d+)")


class Identity(NamedTuple):
    """A way in which customers are found; its texts have placeholders.

    Attributes:
        who: What customers know about themselves.
        gap: What they do not know.
        facts: What they say when asked, by the fact.
    """

    who: str
    gap: str
    facts: dict[str, str]


_FOUND_BY = {
    "email": Identity("Your email address is {email}.", "", {"email": "{email}"}),
    "zip": Identity("Your zip code is {zip}.", "You forgot which email address you registered with.", {"zip": "{zip}"}),
    # The user id first, and the email address on request.
    "offered": Identity(
        "Your user id is {user_id}. Your email address is {email}.",
        "",
        {"user_id": "{user_id}", "email": "{email}", "zip": "The email address has to do."},
    ),
    "outdated email": Identity(
        "Your email address used to be {old_email}; you offer it first. Your zip code is {zip}.",
        "You do not know that your profile has another email address, nor which.",
        {"email": "{old_email}", "zip": "{zip}"},
    ),
}
FoundBy: TypeAlias = Literal["email", "zip", "offered", "outdated email"]


@dataclass(frozen=True, kw_only=True)
class Draft(combine.Draft["User"]):
    """A scenario with people and things chosen.

    Attributes:
        found_by: How the customer is found.
        judged: Statements for a judge.
        every_call: Each reference action is graded for itself, not only what it leads to.
    """

    found_by: FoundBy = "email"
    judged: Sequence[str] = ()
    every_call: bool = False


@dataclass(frozen=True)
class Scenario:
    """Something that can happen to whomever it fits.

    Attributes:
        task_id: The task's id.
        steps: How its cases are found.
        table: What a draft has, with placeholders for what it is about. Its ``calls`` are words and things of
            :func:`calls_of`; ``transfer`` is the summary of a transfer that follows them.
    """

    task_id: str
    steps: Iterable[Step]
    table: Mapping[str, Any]

    def draft(self, case: Case) -> Draft:
        """Return the draft about a case."""
        texts = Texts({**PLACES, **vars(case)}, write)
        fields = texts.fill_table(self.table)
        lines = map(str.split, self.table.get("calls", ()))
        calls = [call for word, *names in lines for call in calls_of(word, *texts.look_up(names))]
        if transfer := fields.pop("transfer", ""):
            calls.append(Call(TRANSFER, {"summary": transfer}))
        return Draft(caller=case.user, task_id=self.task_id, calls=calls, **fields)


def build_tasks(scenarios: Iterable[Scenario], world: World) -> list[Task]:
    """Build a task of each scenario.

    Raises:
        ConfigurationError: No customer in the database fits a scenario.
    """
    seen: Counter[str] = Counter()
    tasks = []
    for scenario in scenarios:
        cases = sorted(find_cases(world, scenario.steps), key=lambda case: seen[case.user.user_id])
        draft = next((draft for draft in map(scenario.draft, cases) if is_gradable(draft)), None)
        if draft is None:
            raise ConfigurationError(
                f"nobody in the retail database fits the scenario {scenario.task_id!r}: another seed?"
            )
        seen[draft.caller.user_id] += 1
        tasks.append(build_task(draft))
    return tasks


def is_gradable(draft: Draft) -> bool:
    """Return whether the customer's text gives no phrase away, and no amount can be given with one digit less."""
    text = str(_user(draft)).lower()
    ends = [cents for phrase in draft.communicate for cents in _CENTS.findall(phrase)]
    given_away = any(phrase.lower() in text for phrase in draft.communicate)
    return not given_away and not any(end.endswith("0") for end in ends)


def build_task(draft: Draft) -> Task:
    """Build the task of a draft."""
    calls = [_identification(draft.caller, draft.found_by), *draft.calls]
    basis = {
        "DB": True,
        "COMMUNICATE": True,
        "ACTION": draft.transfers or draft.every_call,
        "NL_ASSERTION": draft.judged,
    }
    return Task(
        id=draft.task_id,
        description=Description(purpose=draft.purpose, relevant_policies=draft.rule),
        user_scenario=_user(draft),
        evaluation_criteria=EvaluationCriteria(
            actions=[_action(number, call) for number, call in enumerate(calls)],
            communicate_info=list(draft.communicate),
            nl_assertions=list(draft.judged) or None,
            reward_basis=[kind for kind, counts in basis.items() if counts],
        ),
    )


def _action(number: int, call: Call) -> Action:
    compared = _COMPARED.get(call.name)
    return Action(action_id=f"{call.name}_{number}", name=call.name, arguments=call.arguments, compare_args=compared)


def _identification(caller: User, found_by: FoundBy) -> Call:
    if found_by in ("email", "offered"):
        return Call("find_user_id_by_email", {"email": caller.email})
    name = {"first_name": caller.name.first_name, "last_name": caller.name.last_name}
    return Call("find_user_id_by_name_zip", {**name, "zip": caller.address.zip})


def _user(draft: Draft) -> UserScenario:
    identity, caller = _FOUND_BY[draft.found_by], draft.caller
    first, last = caller.name.first_name, caller.name.last_name
    values = {"email": caller.email, "user_id": caller.user_id, "zip": caller.address.zip}
    values["old_email"] = f"{last}.{first}@example.org".lower()
    instructions = Instructions(
        domain="retail",
        reason_for_call=draft.reason,
        known_info=join_sentences([f"Your name is {first} {last}.", identity.who.format(**values), draft.known]),
        unknown_info=join_sentences([identity.gap, draft.unknown]) or None,
        task_instructions=f"{draft.instructions} {_CONSENT} {_CLOSING}",
    )
    script = UserScript(
        requests=[_with_order(request) for request in draft.opened],
        facts={"name": f"{first} {last}", **{fact: text.format(**values) for fact, text in identity.facts.items()}},
        declines=list(draft.declines),
        patience=patience(draft.persona, PATIENCE),
    )
    return UserScenario(persona=draft.persona, instructions=instructions, script=script)


def _with_order(request: Request) -> Request:
    """Return the request; a request that names a single order gives its id again if the agent asks."""
    order_ids = set(_ORDER_ID.findall(request.say))
    if len(order_ids) != 1 or "order_id" in request.facts:
        return request
    return request.model_copy(update={"facts": {"order_id": order_ids.pop(), **request.facts}})
