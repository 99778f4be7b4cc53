"""The person beside a run: their functions that it calls, and the desk where they answer; it must not know a run."""
