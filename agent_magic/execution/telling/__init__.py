"""How code ended, in the words that the model reads; it must not run it."""
