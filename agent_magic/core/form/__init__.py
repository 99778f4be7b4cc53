"""A memory as plain JSON and back, loss-free."""
