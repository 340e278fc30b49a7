"""The rules of the bank's policy that a conversation alone can show to be broken."""

from __future__ import annotations

from pytest_tau.policy import bounded

from .conduct import CONDUCT_RULES
from .documents import DOCUMENT_RULES
from .procedures import PROCEDURE_RULES
from .verification import VERIFICATION_RULES

RULES = bounded([*VERIFICATION_RULES, *CONDUCT_RULES, *DOCUMENT_RULES, *PROCEDURE_RULES])
