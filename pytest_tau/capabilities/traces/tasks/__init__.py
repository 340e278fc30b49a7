"""Recorded conversations made into tasks that run, each with a proof."""
