"""What is known of a task's reference without a conversation."""

from .outcomes import Choice, propose, prove

__all__ = ["Choice", "propose", "prove"]
