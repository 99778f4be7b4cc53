"""Agents, runs, steps and tools as things to look at, and what `%agent` says of them; it must not change them."""
