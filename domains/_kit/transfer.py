"""The hand-over to a person, which ends a conversation."""

from __future__ import annotations

from typing import Final

#: The tool that hands over.
TRANSFER: Final = "transfer_to_human_agents"
