"""Numbers next to the reward: partial credit, rules of the policy, searches, reviews, and faults of tools."""
