"""The scenarios of the bank's tasks, one module for each subject."""

from __future__ import annotations

from .cards import CARDS
from .debit import DEBIT
from .disputes import DISPUTES
from .limits import LIMITS
from .money import MONEY
from .people import PEOPLE

#: In the order of the tasks.
SCENARIOS = (*CARDS, *LIMITS, *DISPUTES, *DEBIT, *MONEY, *PEOPLE)
