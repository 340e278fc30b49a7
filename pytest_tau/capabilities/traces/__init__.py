"""Traces of production: conversations that instrumentation has recorded, read, written, and made into tasks."""

from __future__ import annotations

from ...capability import Capability

# It has nothing to do in a trial.
capability = Capability(name="traces", on=bool)
