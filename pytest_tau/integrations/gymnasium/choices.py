"""The closed sets among the arguments of an environment."""

from __future__ import annotations

from typing import Literal, TypeAlias

Observation: TypeAlias = Literal["new", "all", "chat"]
Reward: TypeAlias = Literal["verdict", "partial", "shaped"]
