"""The report: a run, or two beside each other, as one HTML file."""

from .page import Written, write_report

__all__ = ["Written", "write_report"]
