"""Test doubles, for tests of one's own: participants, judges and a model server that follow a script."""

from .scripted import ScriptedJudge, ScriptedParticipant, call

__all__ = ["ScriptedJudge", "ScriptedParticipant", "call"]
