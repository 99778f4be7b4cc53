"""Blocks of code run for a step, and tools as functions of that code; it must not know what a model is."""
