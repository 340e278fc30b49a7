"""The bank's customers and their accounts, made from a seed."""
