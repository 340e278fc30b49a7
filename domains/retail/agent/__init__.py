"""The agent of the shop that needs no model: it goes by rules made from the policy."""
