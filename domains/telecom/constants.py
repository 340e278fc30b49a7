"""Facts of the carrier that both the rules agent and the tasks rely on."""

from datetime import date
from typing import Final

#: The day on which every conversation takes place.
TODAY: Final = date(2025, 2, 25)
#: The most data, in GB, by which the policy lets a line be refuelled in total.
MAX_REFUEL_GB: Final = 2.0
#: Bundled customers whose records are also part of every sampled database.
RETAINED_CUSTOMERS: Final = ("C2011", "C2012")
