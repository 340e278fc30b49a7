"""The report: a run, or two side by side, as one HTML file."""

from .page import Written, write_report

__all__ = ["Written", "write_report"]
