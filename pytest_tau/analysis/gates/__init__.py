"""Gates: what a run as a whole must reach, and the metrics that they check."""

from .gate import Gate, Verdict

__all__ = ["Gate", "Verdict"]
