"""The scenarios of the shop's tasks, one module for each subject."""
