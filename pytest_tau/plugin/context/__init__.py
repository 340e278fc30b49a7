"""The state of a run."""
