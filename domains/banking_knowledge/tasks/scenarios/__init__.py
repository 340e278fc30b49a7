"""The scenarios of the bank's tasks, one module for each subject."""

from __future__ import annotations

from .cards import CARDS
from .debit import DEBIT
from .debit_limits import DEBIT_LIMITS
from .disputes import DISPUTES
from .fees import FEES
from .limits import LIMITS
from .money import MONEY
from .people import PEOPLE

#: In the order of the tasks.
SCENARIOS = (*CARDS, *LIMITS, *DISPUTES, *DEBIT, *DEBIT_LIMITS, *MONEY, *FEES, *PEOPLE)
