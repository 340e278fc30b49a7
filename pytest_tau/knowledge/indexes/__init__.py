"""Indexes over the documents of a knowledge base: by words, by meaning, by regular expressions."""
