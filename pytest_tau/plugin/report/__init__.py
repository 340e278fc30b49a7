"""What a person or a CI service sees of a run."""
