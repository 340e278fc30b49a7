"""The run and its trials, as capabilities see them: the implementation of ``pytest_tau.capability.runs``."""
