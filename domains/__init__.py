"""The bundled domains; each is written against the public API, as a third party would write it."""
