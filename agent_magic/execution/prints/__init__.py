"""What is printed, and where it belongs; it must not show it."""
