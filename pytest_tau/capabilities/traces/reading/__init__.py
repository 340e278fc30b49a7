"""Reading traces: files into spans, spans into conversations, conversations into a stored run."""
