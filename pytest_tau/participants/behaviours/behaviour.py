"""A behaviour of simulated users."""

from __future__ import annotations

import random
from dataclasses import dataclass

from .manner import Manner


@dataclass(frozen=True)
class Behaviour:
    """A behaviour of simulated users, for ``--tau-user-persona behaviour=NAME``.

    Attributes:
        name: The name.
        instruction: The paragraph for a model that plays the user; empty to ask for nothing.
        manner: The class of the manner of the scripted user.
        excuses: The names of the checks of the user that are not made, as it makes such faults on purpose.
        unseen: What the reward does not see in a trial with such a user, for the summary; empty if it sees everything.
    """

    name: str
    instruction: str = ""
    manner: type[Manner] = Manner
    excuses: tuple[str, ...] = ()
    unseen: str = ""

    def begin(self, seed: int | None) -> Manner:
        """Return the manner of one conversation."""
        return self.manner(random.Random(f"{seed} behaviour"))  # noqa: S311 - not for secrets
