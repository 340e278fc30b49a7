"""The tasks of the shop: scenarios, what they are built from, and the generators of bundled and of new tasks."""
