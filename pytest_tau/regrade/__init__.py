"""Grading stored conversations again, and what has changed since they were graded."""
