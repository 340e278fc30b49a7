"""What things cost: ``python -m benchmarks``."""
