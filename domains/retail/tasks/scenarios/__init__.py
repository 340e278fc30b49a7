"""The scenarios of the shop's tasks, one module for each subject."""

from __future__ import annotations

from .address import ADDRESSES
from .cancel import CANCELLATIONS
from .exchange import EXCHANGES
from .exchange_limits import EXCHANGE_BOUNDS
from .items import ITEMS
from .judged import JUDGED
from .payment import PAYMENTS
from .questions import IDENTITIES, QUESTIONS, SEVERAL
from .returns import RETURNS
from .transfer import TRANSFERS

#: In the order of the tasks.
SCENARIOS = (
    *CANCELLATIONS,
    *ADDRESSES,
    *PAYMENTS,
    *ITEMS,
    *RETURNS,
    *EXCHANGES,
    *EXCHANGE_BOUNDS,
    *QUESTIONS,
    *IDENTITIES,
    *TRANSFERS,
    *SEVERAL,
    *JUDGED,
)
