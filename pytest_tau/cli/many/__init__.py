"""Commands over several runs: their tables, matrices of runs, and runs from a turn on."""
