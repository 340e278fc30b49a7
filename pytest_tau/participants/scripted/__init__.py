"""The user without a model: it follows the task's script and understands its agent by tables of words."""

from .memory import Understanding
from .prose import is_playable, opening_of, script_of, unread_prose
from .user import ScriptedUser

__all__ = ["ScriptedUser", "Understanding", "is_playable", "opening_of", "script_of", "unread_prose"]
