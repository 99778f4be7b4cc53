"""What a model is sent, kept within window and budget, and its reply; it must not know what is done with that."""
