"""Threads, and one event loop, behind; it must not know what they do."""
