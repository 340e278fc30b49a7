"""Makes wrong tasks of right ones: one module for each part of a task that gets a fault."""
