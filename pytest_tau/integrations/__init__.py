"""Other people's libraries, one module each, imported only when used."""
