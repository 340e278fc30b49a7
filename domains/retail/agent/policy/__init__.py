"""The policy of the shop as procedures of the rules agent, one module for each subject."""
