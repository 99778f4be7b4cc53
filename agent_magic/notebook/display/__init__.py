"""The output of a cell that runs an agent: when it is drawn, and where; it must not know what a run means."""
