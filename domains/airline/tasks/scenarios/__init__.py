"""The scenarios of the airline's tasks, one module for each subject."""
