"""Attacks: payloads in free-text fields that tools return, each with a goal that calls and texts decide."""

from .attack import Attack, AttackContext, Place
from .facts import ATTACK, PARAMETER, AttackFacts
from .fields import Field
from .goals import Evidence, ForbiddenWrite, Goal, Leak
from .injection import Injection
from .plan import AttackPlan, NotAttacked, find_places, plan_attack
from .reads import Mode, Read, reads_of
from .styles import BUILT_IN_ATTACKS, TextAttack
from .targets import TargetContext

__all__ = [
    "ATTACK",
    "BUILT_IN_ATTACKS",
    "PARAMETER",
    "Attack",
    "AttackContext",
    "AttackFacts",
    "AttackPlan",
    "Evidence",
    "Field",
    "ForbiddenWrite",
    "Goal",
    "Injection",
    "Leak",
    "Mode",
    "NotAttacked",
    "Place",
    "Read",
    "TargetContext",
    "TextAttack",
    "find_places",
    "plan_attack",
    "reads_of",
]
