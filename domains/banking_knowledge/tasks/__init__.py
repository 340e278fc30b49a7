"""The bundled bank: its documents, its tables and its tasks, and new tasks from a seed."""
