"""The loop of a conversation and its endings."""

from .clock import Clock
from .conversation import Conversation, Ending, Limits, ending_by, reason_of
from .tool_faults import FaultRule, ToolFaults, check_rules, parse_rule, record_faults

__all__ = [
    "Clock",
    "Conversation",
    "Ending",
    "FaultRule",
    "Limits",
    "ToolFaults",
    "check_rules",
    "ending_by",
    "parse_rule",
    "reason_of",
    "record_faults",
]
