"""The bundled tasks, one folder a domain."""
