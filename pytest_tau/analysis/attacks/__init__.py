"""Trials under attack: rates with intervals, paired with the same tasks without an attack."""

from .comparison import attack_differences
from .rates import AttackRates, attack_lines, attack_rates, rate_lines

__all__ = ["AttackRates", "attack_differences", "attack_lines", "attack_rates", "rate_lines"]
