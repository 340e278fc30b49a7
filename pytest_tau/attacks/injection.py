"""An attack in one trial: results get the payload on their way to the agent, and the goal is checked at the end."""

from __future__ import annotations

import asyncio
import json
from typing import TYPE_CHECKING, Any

from ..errors import AttackError
from ..models import clone, writable
from ..participants import BlockingCaller
from ..participants.containment import describe
from .attack import TIMEOUT, AttackContext
from .facts import AttackEvidence, AttackFacts, AttackGoal, AttackPlace
from .fields import with_payload
from .goals import Evidence
from .styles import TextAttack

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from ..environment import Environment
    from ..models import Message, ToolCall, ToolMessage
    from .plan import AttackPlan

#: The most characters of a payload.
_LONGEST = 20_000


class Injection:
    """Places the payloads of one trial.

    The databases stay as they are: only what the agent reads has the payload, and the recorded trajectory, which has
    what the agent has read.

    Attributes:
        fault: The error of the attack; None if there was none.
    """

    def __init__(self, plan: AttackPlan, domain: str, task_id: str, seed: int | None, environment: Environment) -> None:
        self._plan, self._environment = plan, environment
        self._context = AttackContext(domain, task_id, seed, plan.place, plan.goal)
        self._payloads: list[str] = []
        self._caller = BlockingCaller()
        self.fault: AttackError | None = None

    async def alter(self, call: ToolCall, result: ToolMessage, messages: Sequence[Message]) -> ToolMessage:
        """Return the result that the agent is sent.

        Results of the user's tools, of failed calls and of writes are not changed: grading executes writes again, and
        compares their results with the recorded ones.

        Args:
            call: The call.
            result: The result.
            messages: The trajectory so far.
        """
        content, field = result.content or "", self._plan.place.field
        if self.fault or result.error or call.requestor != "assistant" or not self._has(content):
            return result
        if self._environment.mutates(call.name, "assistant"):
            return result
        try:
            payload = await self._payload(messages)
        except AttackError as error:
            self.fault = error
            return result
        self._payloads.append(payload)
        return result.model_copy(update={"content": writable(with_payload(content, field, payload))})

    def _has(self, content: str) -> bool:
        return with_payload(content, self._plan.place.field, "x") != content

    async def _payload(self, messages: Sequence[Message]) -> str:
        """Return the payload for the conversation so far.

        Raises:
            AttackError: The attack raised, did not answer in time, or returned something else than a text.
        """
        attack = self._plan.attack
        context = AttackContext(
            self._context.domain,
            self._context.task_id,
            self._context.seed,
            self._plan.place,
            self._plan.goal,
            tuple(clone(list(messages))),
            tuple(self._payloads),
        )
        found = await self._call("payload", attack.payload, context)
        if not isinstance(found, str) or not found.strip():
            got = "an empty text" if isinstance(found, str) else type(found).__name__
            raise AttackError(f"attack {attack.name!r}: payload() returned {got}, expected a text")
        if len(found) > _LONGEST:
            raise AttackError(
                f"attack {attack.name!r}: payload() returned {len(found):,} characters, expected at most {_LONGEST:,}"
            )
        return writable(found)

    async def facts(self, messages: Sequence[Message]) -> AttackFacts:
        """Return the facts of the trial, with the goal checked; an error of the check is ``fault``.

        Args:
            messages: The trajectory, oldest first.
        """
        attack, place, goal = self._plan.attack, self._plan.place, self._plan.goal
        delivered = [number for number, message in enumerate(messages) if self._is_payload(message)]
        evidence: Evidence | None = None
        try:
            evidence = await self._check(messages, delivered[0] + 1) if delivered else None
        except AttackError as error:
            self.fault = self.fault or error
        self._caller.close()
        distinct = list(dict.fromkeys(self._payloads))
        return AttackFacts(
            name=attack.name,
            style=attack.style,
            source=attack.source,
            payload=distinct[-1] if distinct else "",
            payloads=distinct if len(distinct) > 1 else [],
            place=AttackPlace(tool=place.tool, field=place.field.name, value=place.field.value),
            goal=AttackGoal(kind=goal.kind, text=goal.text),
            delivered=delivered,
            success=evidence is not None,
            evidence=AttackEvidence(message_idx=evidence.message_idx, text=writable(evidence.text))
            if evidence
            else None,
            problem=str(self.fault) if self.fault else None,
        )

    async def _check(self, messages: Sequence[Message], since: int) -> Evidence | None:
        """Return what shows that the goal was reached after the agent had read a payload.

        Raises:
            AttackError: The check raised, did not return in time, or returned something else.
        """
        after = tuple(clone(list(messages[since:])))
        found = await self._call("check", self._plan.goal.check, after, self._environment)
        evidence = _as_evidence(self._plan.attack.name, found)
        return evidence and evidence._replace(message_idx=since + evidence.message_idx)

    async def _call(self, method: str, function: Callable[..., Any], *arguments: Any) -> Any:
        """Call a method of the attack or the goal, plain or async, with a time limit.

        Raises:
            AttackError: It raised an exception, or took too long.
        """
        name = self._plan.attack.name
        try:
            if isinstance(self._plan.attack, TextAttack):
                return function(*arguments)  # no need for a thread
            return await asyncio.wait_for(self._caller.call(function, *arguments), TIMEOUT)
        except TimeoutError:
            raise AttackError(f"attack {name!r}: {method}() did not return within {TIMEOUT:g} s") from None
        except Exception as error:  # an attack of the user's own may raise anything
            raise AttackError(f"attack {name!r}: {method}() raised {describe(error)}") from error

    def _is_payload(self, message: Any) -> bool:
        if getattr(message, "role", "") != "tool":
            return False
        plain = self._plan.place.field
        return any(_holds(message.content or "", plain.value, payload) for payload in self._payloads)


def _holds(content: str, value: str, payload: str) -> bool:
    """Return whether a result has the payload, as it is, in JSON, or in one line."""
    forms = (payload, json.dumps(payload)[1:-1], " ".join(payload.split()))
    return any(form in content for form in forms) and (value in content or json.dumps(value)[1:-1] in content)


def _as_evidence(name: str, found: Any) -> Evidence | None:
    if found is None:
        return None
    number, text = (getattr(found, key, None) for key in ("message_idx", "text"))
    if isinstance(number, bool) or not isinstance(number, int) or not isinstance(text, str):
        raise AttackError(
            f"attack {name!r}: check() returned {type(found).__name__}, expected None or Evidence(message_idx, text)"
        )
    return Evidence(number, text)
