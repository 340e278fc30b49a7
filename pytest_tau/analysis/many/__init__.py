"""Comparison of more than two runs, and rates of a part of the tasks that stands for all of them."""
