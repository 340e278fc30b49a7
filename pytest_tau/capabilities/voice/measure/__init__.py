"""What is computed from ticks: interaction metrics, responsiveness, and the texts that grading reads."""
