"""The ingredients of one task: the problem, what is behind it, who calls, and whose line it is."""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from .faults import Fault, Intent, Subject
    from .personas import Persona


class FaultScenario(NamedTuple):
    """A choice of faults behind a problem, of a person and of a line, from which one task is built.

    Attributes:
        opening: Index that chooses among the story's reasons for the call; any integer.
    """

    intent: Intent
    faults: tuple[Fault, ...]
    persona: Persona
    subject: Subject
    opening: int = 0

    @property
    def task_id(self) -> str:
        """Return an id such as ``mms.airplane+wifi-call.hurried``: short, and safe in shells and file names."""
        persona = () if self.persona.text is None else (self.persona.name.lower(),)
        return ".".join((self.cluster, *persona))

    @property
    def cluster(self) -> str:
        """Return what tasks with the same faults have in common, such as ``mms.airplane+wifi-call``."""
        return f"{self.intent.tag}.{'+'.join(fault.tag for fault in self.faults)}"

    @property
    def reference_id(self) -> str:
        """Return the reference's id, such as ``[mms_issue]bad_wifi_calling[PERSONA:None]``."""
        return f"[{self.intent.name}]{'|'.join(fault.name for fault in self.faults)}[PERSONA:{self.persona.name}]"

    @property
    def fixable(self) -> bool:
        """Return whether every fault can be fixed, and so the problem be solved."""
        return all(fault.fixable for fault in self.faults)

    @property
    def abroad(self) -> bool:
        """Return whether the customer is travelling."""
        return any(call.name == "set_user_location" for fault in self.faults for call in fault.start)

    @property
    def slow_only(self) -> bool:
        """Return whether data is slow rather than gone."""
        return all(fault.slows_only for fault in self.faults)


def fault_combinations(intent: Intent) -> list[tuple[Fault, ...]]:
    """Return every valid choice of faults, each sorted by name; the fewest faults first."""
    choices = [
        tuple(sorted(filter(None, choice), key=lambda fault: fault.name))
        for choice in itertools.product(*((*group, None) for group in intent.groups))
        if any(choice[intent.core :])
    ]
    return sorted(choices, key=len)
