"""Conversations in ticks: simulated time, speech, turn-taking, and the conditions of the line and of the user."""
