"""What a scenario tells in prose to the user who plays it, such as "if the agent asks for the reason, say …".

- ``facts``: what the user knows, the offers that it accepts and declines, and when it is content;
- ``secrets``: what it is to keep back, and what it is to say at once;
- ``reading``: its requests, and what it says under conditions;
- ``speech``: how the user says what it is told to say.
"""

from __future__ import annotations

from .facts import accepted_offers, declined_offers, facts_of, tells_when_content
from .reading import WHEN_CONFIRMING, Read, read_instructions
from .secrets import says_all_at_first, withheld_facts
from .speech import first_person

__all__ = [
    "WHEN_CONFIRMING",
    "Read",
    "accepted_offers",
    "declined_offers",
    "facts_of",
    "first_person",
    "read_instructions",
    "says_all_at_first",
    "tells_when_content",
    "withheld_facts",
]
