"""The capabilities of this folder, for a run from it."""

import addresses
import call_limit
import competitors
import first_answer


def pytest_tau_capabilities():
    return [addresses.capability, call_limit.capability, competitors.capability, first_answer.capability]
