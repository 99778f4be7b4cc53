"""What was there before code ran, to be put back after it; it must not know what a step is."""
