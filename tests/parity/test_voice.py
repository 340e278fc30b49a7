"""Recorded conversations in ticks, and everything that the reference computes from them."""

from __future__ import annotations

import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = pytest.mark.parity

#: Checks of the recorded conversations: fewer would be an unnoticed loss.
CHECKS = {
    "metrics": 300,
    "responsiveness": 300,
    "communicate_texts": 300,
    "transcript": 300,
    "flat_messages": 300,
    "user_context": 900,
    "pooled": 10,
}


def test_every_recorded_conversation_agrees(shared: Path) -> None:
    done = subprocess.run(
        [sys.executable, shared / "tools" / "check_voice.py"], capture_output=True, text=True, check=False
    )

    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout.splitlines() == [f"{name}: {number} of {number}" for name, number in CHECKS.items()]
