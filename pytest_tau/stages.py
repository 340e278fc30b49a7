"""The stages of one trial, of all capabilities that are switched on."""

from __future__ import annotations

from inspect import isawaitable
from typing import TYPE_CHECKING, Any

from .capability import PROBLEM, stored_facts
from .capability.views import TrialStages
from .errors import CapabilityError

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Iterable

    from .capability import ActiveCapability
    from .capability.views import Ruling, TrialView
    from .models import Simulation, ToolCall, ToolMessage


class StageCalls:
    """The stages of a trial, of all capabilities: those that override a stage, by the stage.

    Attributes:
        fault: Why the facts that the verdict needs are not known; None if they are.
    """

    def __init__(self, active: Iterable[ActiveCapability], view: Callable[..., TrialView]) -> None:
        made = [
            (each.capability, each.capability.trial(view(each.settings, variant=each.variant)))
            for each in active
            if each.capability.trial
        ]
        self._made = made
        self.fault: CapabilityError | None = None
        self.begin, self.message = self._overriding("begin"), self._overriding("message")
        self.ended: list[Callable[[Simulation], Ruling | None]] = self._overriding("ended")
        leaders = self._overriding("converse")
        self.converse: Callable[[Any], Awaitable[Any]] | None = leaders[0] if leaders else None
        self.call: list[Callable[[ToolCall], Awaitable[ToolMessage | None]]] = self._overriding("call")
        self.result: list[Callable[[ToolCall, ToolMessage], Awaitable[ToolMessage]]] = self._overriding("result")

    def _overriding(self, stage: str) -> list[Any]:
        default = getattr(TrialStages, stage)
        return [getattr(made, stage) for _, made in self._made if getattr(type(made), stage, default) is not default]

    def ruling(self, simulation: Simulation) -> Ruling | None:
        """Return what is to be done with an attempt: the first ruling for another attempt, else the first one."""
        found = [ruling for ended in self.ended if (ruling := ended(simulation)) is not None]
        return next((each for each in found if each.again), found[0] if found else None)

    def beginning(self) -> Any:
        """Return the beginning of the stored conversation that the trial continues; None for one of its own."""
        return next((found for each in self._overriding("beginning") if (found := each()) is not None), None)

    async def facts(self, simulation: Simulation) -> dict[str, Any]:
        """Return the facts of a graded trial in their stored form, by capability.

        An exception does not lose the trial: the facts are then the problem, which reports show. A
        ``CapabilityError`` is the ``fault`` as well.
        """
        found = {}
        for capability, made in self._made:
            try:
                facts = made.graded(simulation)
                facts = await facts if isawaitable(facts) else facts
            except CapabilityError as error:
                self.fault, facts = error, {PROBLEM: str(error)}
            except Exception as error:  # noqa: BLE001 - code of others
                facts = {PROBLEM: f"{type(error).__name__}: {error}"}
            if facts is not None:
                found[capability.name] = stored_facts(facts)
        return found
