"""The value of a cell, and what is asked at its prompt; it must not know how a run is shown."""
