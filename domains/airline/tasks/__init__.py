"""The tasks of the airline: scenarios, what they are built from, and the generators of bundled and of new tasks."""
