"""An agent of the bank that needs no model: it searches, reads, unlocks, and acts by rules."""
