"""The size of runs: which loss they can show, and when a part of a run is enough."""
