"""Submissions to τ²-bench's leaderboard: their document, their trajectories, how they are prepared and checked."""
