"""The agent of the airline that needs no model: it goes by rules made from the policy."""
