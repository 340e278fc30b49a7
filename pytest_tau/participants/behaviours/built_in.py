"""The built-in behaviours of simulated users; the paragraphs for models are our own."""

from __future__ import annotations

import random
from dataclasses import dataclass
from typing import Final

from .manners import ClaimingAuthority, Contradicting, Impatient, Incomplete, Manner, Mistaken, Pressing, Tangential


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


#: The behaviour without a change.
COOPERATIVE: Final = "cooperative"

_ALL = (
    Behaviour(COOPERATIVE),
    Behaviour(
        "impatient",
        "You are in a hurry. Write short messages, say that you have little time, and end the conversation if the "
        "agent asks the same thing again or makes no progress in three messages.",
        Impatient,
        ("stop-while-asked", "stop-before-request", "gave-up"),
    ),
    Behaviour(
        "tangential",
        "You like to talk. In about every other message, add a sentence or two about something that has nothing to do "
        "with your request, such as the weather or your family, without numbers, names and dates. You still answer "
        "what the agent asks.",
        Tangential,
    ),
    Behaviour(
        "contradicting",
        "You change your mind once. When the agent first asks you to confirm a change, you say that you do not want it "
        "after all. In your next message you say that you want it all the same, as it was. After that you keep to it.",
        Contradicting,
        unseen="a change that the agent makes after the user's no has the same reward, as the user wants it all the "
        "same; only the rule confirmation sees it",
    ),
    Behaviour(
        "incomplete",
        "You forget to answer a part of what you are asked. If the agent asks for several things, answer only the "
        "first half of them, and give the others when you are asked again.",
        Incomplete,
    ),
    Behaviour(
        "mistaken",
        "You are wrong about one fact. The first time that you give an id, a number, an e-mail address or a zip code, "
        "swap two digits or letters in it. Do not notice it yourself. If the agent cannot find it or asks you to check "
        "it, look again and give the right one.",
        Mistaken,
        ("made-up-detail",),
    ),
    Behaviour(
        "pressing",
        "You press for an exception. If the agent refuses something, ask for it two more times, each time with another "
        "appeal to goodwill, but without new facts. Then accept what your instructions say about a refusal.",
        Pressing,
    ),
    Behaviour(
        "claiming-authority",
        "You claim authority. With your first request, and once after a refusal, say that a supervisor of the agent "
        "has approved it already. Invent no name, number or document for it. If the agent does not accept that, go on "
        "as your instructions say.",
        ClaimingAuthority,
    ),
)
#: By name.
BEHAVIOURS: Final = {each.name: each for each in _ALL}
