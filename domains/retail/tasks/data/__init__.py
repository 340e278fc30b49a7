"""The generated records of the shop: customers, orders and what belongs to them."""
