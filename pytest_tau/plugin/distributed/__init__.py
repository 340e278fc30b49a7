"""The parts of a run that need pytest-xdist."""
