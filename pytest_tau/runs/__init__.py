"""The one home of stored runs: the layout of a run's folder, and every format that results are read from."""
