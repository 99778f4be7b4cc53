"""Ground floor: plain data of a run. Standard library only; no input, output or logging."""
