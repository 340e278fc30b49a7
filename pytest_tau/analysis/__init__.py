"""Numbers about finished runs: rates, intervals, comparisons, gates, usage."""
