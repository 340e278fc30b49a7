"""Personal data of conversations, replaced by other data of the same form: one original, one replacement."""

from .redactor import Kept, Redactor

__all__ = ["Kept", "Redactor"]
