"""New tasks: the scenarios of the bundled tasks with other people and trips, one or several in a conversation."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, ClassVar, Final

from pytest_tau.errors import ConfigurationError, TaskFormatError

from ..._kit.combine import Draft, add_remarks, combine
from ..._kit.sampler import TaskSampler, suffixed_id
from .builder import build_task
from .personas import PERSONAS
from .random_world import RandomWorld
from .scenarios import SCENARIOS
from .verify import environment_of, verify

if TYPE_CHECKING:
    from random import Random

    from pytest_tau.environment import Difficulty
    from pytest_tau.models import Task

    from ..models import AirlineDB, User

#: More matters in one conversation fit hardly any user.
MAX_REQUESTS: Final = 3
#: Scenarios that mean what they say only by themselves: they speak of all reservations, of a sum over what was done, of
#: what is in the wallet, or of a reservation that they do not name.
NOT_COMBINABLE: Final = frozenset(
    {
        "book-gift-cards-refused",
        "book-split-payment",
        "book-two-certificates-refused",
        "book-with-certificate-only",
        "cancel-all-that-can-be",
        "cancel-insured-storm",
        "information-balances",
        "information-paid",
        "passenger-replaced",
        "several-bookings",
        "several-for-gold",
        "several-with-refund",
    }
)
_FOR_ONE_ALONE: Final = "What is said about a matter holds for that matter alone."
_REMARKS: Final = (
    "the weather is lovely today",
    "your sister flies with another airline",
    "you liked the coffee on your last flight",
    "you have a new suitcase in green",
    "your neighbour works at the airport",
    "the website looked different last year",
    "you have been a customer for years",
    "your cat does not like it when you are away",
)
_PERSONAS: Final = (None, *PERSONAS.values())


class AirlineSampler(TaskSampler["Draft[User]"]):
    """Draws tasks about a database."""

    domain: ClassVar[str] = "airline"
    max_requests: ClassVar[int] = MAX_REQUESTS
    attempts: ClassVar[int] = 200

    def __init__(self, db: AirlineDB, difficulty: Difficulty) -> None:
        super().__init__(difficulty)
        self._db = db

    def draw(self, rng: Random) -> tuple[str, Draft[User]] | None:
        """Draw some matters of one user."""
        try:
            drafts = self._matters(rng, self.difficulty.requests)
        except (ConfigurationError, TaskFormatError):
            return None
        draft = combine(drafts) if len(drafts) > 1 else drafts[0]
        if len(drafts) > 1:
            draft = replace(draft, instructions=f"{_FOR_ONE_ALONE} {draft.instructions}")
        return str(build_task(draft).user_scenario), draft

    def finish(self, drawn: Draft[User], rng: Random, suffix: str) -> Task | None:
        """Verify the task, and give it its id, remarks and a persona."""
        try:
            verify(build_task(drawn), self._db)
        except TaskFormatError:
            return None
        remarks = rng.sample(_REMARKS, min(self.difficulty.distractors, len(_REMARKS)))
        task = build_task(add_remarks(replace(drawn, task_id=suffixed_id(drawn.task_id, suffix)), remarks))
        scenario = task.user_scenario.model_copy(update={"persona": rng.choice(_PERSONAS)})
        return task.model_copy(update={"user_scenario": scenario})

    def _matters(self, rng: Random, count: int) -> list[Draft[User]]:
        """Draw so many matters of one user, about different reservations; one that ends in a transfer comes last."""
        environment = environment_of(self._db)
        scenarios = [scenario for scenario in SCENARIOS if count == 1 or scenario.task_id not in NOT_COMBINABLE]
        drafts: list[Draft[User]] = []
        for scenario in rng.sample(scenarios, len(scenarios)):
            taken_ids = frozenset[str]().union(*map(_reservations, drafts))
            world = RandomWorld(self._db, rng, drafts[0].caller.user_id if drafts else "", taken_ids)
            try:
                draft = scenario.draft(world, environment)
            except ConfigurationError:
                if count == 1:
                    raise
                continue
            too_early = draft.transfers and len(drafts) < count - 1
            if too_early or taken_ids & _reservations(draft):
                # Its actions have been carried out: these matters cannot be used any more.
                raise ConfigurationError("matters that do not go together")
            drafts.append(draft)
            if len(drafts) == count:
                return drafts
        raise ConfigurationError("nobody has so many matters")


def _reservations(draft: Draft[User]) -> frozenset[str]:
    """Return the ids of the reservations that are looked at or changed."""
    return frozenset(call.arguments["reservation_id"] for call in draft.calls if "reservation_id" in call.arguments)
