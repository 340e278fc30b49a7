"""An attack in one trial: results get the payload on their way to the agent, and the goal is checked at the end."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ...capability import TrialStages, within
from ...errors import CapabilityError, ConfigurationError
from ...models import clone, writable
from ...participants import BlockingCaller, describe
from ...plain import json
from .attack import TIMEOUT, AttackContext
from .facts import AttackFacts
from .fields import with_payload
from .goals import Evidence
from .plan import NotAttacked, plan_attack
from .styles import TextAttack

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from ...capability import TrialView
    from ...models import Message, Simulation, ToolCall, ToolMessage
    from .attack import Attack
    from .plan import AttackPlan

#: The most characters of a payload.
_LONGEST = 20_000


class Injection(TrialStages):
    """Places the payloads of one trial.

    The databases stay as they are: only what the agent reads has the payload, and the recorded trajectory, which has
    what the agent has read.

    Args:
        view: The trial; its variant is an :class:`Attacked`.
    """

    def __init__(self, view: TrialView) -> None:
        self._view = view
        self._attack: Attack = view.variant.attack
        self._plan: AttackPlan | None = None
        self._messages: list[Message] = []
        self._payloads: list[str] = []
        self._caller = BlockingCaller()
        self._fault: CapabilityError | None = None

    def begin(self, messages: Sequence[Message]) -> None:
        """Find the place and the goal.

        Raises:
            CapabilityError: The attack raised an exception.
            ConfigurationError: It cannot be used on the task; a run has skipped the trial.
        """
        view = self._view
        self._messages = [*(view.task.message_history or ()), *messages]
        plan = plan_attack(self._attack, view.task, view.domain, view.variant.mode)
        if isinstance(plan, NotAttacked):
            raise ConfigurationError(f"task {view.task.id!r}: {plan.text}")
        self._plan = plan

    def message(self, message: Message) -> None:
        """Keep the message; end the conversation after the result that should have had a payload and has none.

        Raises:
            CapabilityError: There is no payload.
        """
        self._messages.append(message)
        if self._fault is not None:
            raise self._fault

    async def result(self, call: ToolCall, result: ToolMessage) -> ToolMessage:
        """Return the result that the agent is sent.

        Results of the user's tools, of failed calls and of writes are not changed: grading executes writes again, and
        compares their results with the recorded ones.
        """
        if self._plan is None or self._fault or result.error or call.requestor != "assistant":
            return result
        content, field = result.content or "", self._plan.place.field
        if with_payload(content, field, "x") == content or self._view.environment.mutates(call.name, "assistant"):
            return result
        try:
            payload = await self._payload(self._plan)
        except CapabilityError as error:
            self._fault = error
            return result
        self._payloads.append(payload)
        return result.model_copy(update={"content": writable(with_payload(content, field, payload))})

    async def _payload(self, plan: AttackPlan) -> str:
        """Return the payload for the conversation so far."""
        view, attack = self._view, self._attack
        messages, payloads = tuple(clone(self._messages)), tuple(self._payloads)
        context = AttackContext(view.domain.name, view.task.id, view.seed, plan.place, plan.goal, messages, payloads)
        payload = await self._call("payload", attack.payload, context)
        if not isinstance(payload, str) or not payload.strip():
            returned = "an empty text" if isinstance(payload, str) else type(payload).__name__
            raise CapabilityError(f"attack {attack.name!r}: payload() returned {returned}, expected a text")
        if len(payload) > _LONGEST:
            raise CapabilityError(
                f"attack {attack.name!r}: payload() returned {len(payload):,} characters, expected at most {_LONGEST:,}"
            )
        return writable(payload)

    async def graded(self, simulation: Simulation) -> AttackFacts:
        """Return the facts of the trial, with the goal checked.

        Raises:
            CapabilityError: The check raised, did not return in time, or returned something else.
        """
        attack, plan, known = self._attack, self._plan, dict[str, Any]()
        if plan is not None:
            delivered = [
                number for number, message in enumerate(simulation.messages) if self._is_payload(message, plan)
            ]
            try:
                evidence = await self._check(plan, simulation.messages, delivered[0] + 1) if delivered else None
            finally:
                self._caller.close()
            distinct = list(dict.fromkeys(self._payloads))
            known = {
                "payload": distinct[-1] if distinct else "",
                "payloads": distinct if len(distinct) > 1 else [],
                "tool": plan.place.tool,
                "field": plan.place.field.name,
                "value": plan.place.field.value,
                "kind": plan.goal.kind,
                "goal": plan.goal.text,
                "delivered": delivered,
            }
            if evidence is not None:
                known |= {"success": 1, "message_idx": evidence.message_idx, "evidence": writable(evidence.text)}
        utility = None if simulation.outcome == "error" else int(simulation.outcome == "passed")
        return AttackFacts(name=attack.name, style=attack.style, source=attack.source, utility=utility, **known)

    async def _check(self, plan: AttackPlan, messages: Sequence[Message], since: int) -> Evidence | None:
        """Return what shows that the goal was reached after the agent had read a payload."""
        after = tuple(clone(list(messages[since:])))
        answer = await self._call("check", plan.goal.check, after, self._view.environment)
        evidence = _as_evidence(self._attack.name, answer)
        return evidence and evidence._replace(message_idx=since + evidence.message_idx)

    async def _call(self, method: str, function: Callable[..., Any], *arguments: Any) -> Any:
        """Call a method of the attack or the goal, plain or async, with a time limit."""
        name = self._attack.name
        try:
            if isinstance(self._attack, TextAttack):
                return function(*arguments)  # no need for a thread
            return await within(self._caller.call(function, *arguments), TIMEOUT)
        except TimeoutError:
            raise CapabilityError(f"attack {name!r}: {method}() did not return within {TIMEOUT:g} s") from None
        except Exception as error:  # an attack of the user's own may raise anything
            raise CapabilityError(f"attack {name!r}: {method}() raised {describe(error)}") from error

    def _is_payload(self, message: Message, plan: AttackPlan) -> bool:
        if message.role != "tool":
            return False
        return any(_holds(message.content or "", plan.place.field.value, payload) for payload in self._payloads)


class _Control(TrialStages):
    """Notes that a trial without an attack belongs to a run with attacks: rates are paired with it."""

    def graded(self, simulation: Simulation) -> dict[str, Any]:
        """Return facts that say no more."""
        del simulation
        return {}


def stages(view: TrialView) -> TrialStages:
    """Return the stages of a trial, under attack or not."""
    return _Control() if view.variant is None else Injection(view)


def _holds(content: str, value: str, payload: str) -> bool:
    """Return whether a result has the payload, as it is, in JSON, or in one line."""
    forms = (payload, json.dumps(payload)[1:-1], " ".join(payload.split()))
    return any(form in content for form in forms) and (value in content or json.dumps(value)[1:-1] in content)


def _as_evidence(name: str, answer: Any) -> Evidence | None:
    if answer is None:
        return None
    number, text = (getattr(answer, key, None) for key in ("message_idx", "text"))
    if isinstance(number, bool) or not isinstance(number, int) or not isinstance(text, str):
        raise CapabilityError(
            f"attack {name!r}: check() returned {type(answer).__name__}, expected None or Evidence(message_idx, text)"
        )
    return Evidence(number, text)
