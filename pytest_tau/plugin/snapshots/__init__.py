"""Snapshots of trajectories."""
