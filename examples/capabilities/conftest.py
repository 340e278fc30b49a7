"""The capabilities of this folder, for a run from it."""

import addresses
import competitors
import first_answer


def pytest_tau_capabilities():
    return [addresses.capability, competitors.capability, first_answer.capability]
