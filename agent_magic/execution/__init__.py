"""The room of execution: a block of Python, from the reply it was written in to what came of it."""
