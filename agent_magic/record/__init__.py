"""First floor: a run as plain JSON. Reads `core` only."""
