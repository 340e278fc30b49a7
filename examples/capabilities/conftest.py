"""The capabilities of this folder, for a run from it."""

import addresses
import call_limit
import competitors
import first_answer
import known_failures

MODULES = (addresses, call_limit, competitors, first_answer, known_failures)


def pytest_tau_capabilities():
    return [module.capability for module in MODULES]
