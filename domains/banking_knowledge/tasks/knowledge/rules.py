"""The bank's rules as figures: the documents state them, and the reference solutions go by them."""

from __future__ import annotations

from datetime import date
from typing import Final

TODAY: Final = date(2025, 11, 14)
NOW: Final = "2025-11-14 03:40:00 EST"

# Disputes of credit card transactions

#: Days after a purchase within which it can be disputed.
DISPUTE_DAYS: Final = 75
#: From this amount, in USD, and this age of the card account, in days, a dispute has a provisional credit.
PROVISIONAL_FROM: Final = 80
PROVISIONAL_AGE: Final = 120

# Disputes of debit card transactions: the law's limits of what a customer pays

LIABILITY_EARLY: Final = (2, 50)
LIABILITY_LATE: Final = (60, 500)
#: Days after a transaction within which there is a provisional credit, if there is a written statement.
DEBIT_PROVISIONAL_DAYS: Final = 45

# Credit limits

INCREASE_AGE: Final = 150
INCREASE_COOLDOWN: Final = 120
INCREASE_ON_TIME: Final = 5
#: Highest part of the limit that may be in use, in per cent.
INCREASE_UTILIZATION: Final = 40

# Courtesies

#: Payments in a row that have to be on time before a late fee is taken back.
COURTESY_ON_TIME: Final = 6
#: Days between two courtesies.
COURTESY_DAYS: Final = 365
#: Years with the card after which the annual fee may be waived to keep a customer.
RETENTION_YEARS: Final = 2
#: The last day of a waiver that is granted this year.
WAIVER_UNTIL: Final = "12/31/2026"

# Accounts

#: A difference of interest up to this amount, in USD, is credited at once.
INTEREST_AT_ONCE: Final = 40
#: Completed referrals in a calendar year.
REFERRALS_A_YEAR: Final = 4
#: A check by the mobile app, in USD.
CHECK_LIMIT: Final = 3_500
#: Days after an ATM fee within which it is refunded.
ATM_FEE_DAYS: Final = 60
