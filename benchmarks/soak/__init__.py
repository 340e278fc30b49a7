"""Tries to break the harness for as long as it is asked to, and counts how each try ended."""
