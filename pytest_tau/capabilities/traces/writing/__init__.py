"""Trials as traces of OpenTelemetry, in a file or to a receiver."""
