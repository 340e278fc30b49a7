"""The generated records of the airline: users, flights and what belongs to them."""
