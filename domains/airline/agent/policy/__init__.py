"""The policy of the airline as procedures of the rules agent, one module for each subject."""
