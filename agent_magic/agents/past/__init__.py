"""Runs that have ended: the memory they share, going on with them, their changes found and taken back."""
