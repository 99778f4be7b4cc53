"""The agents of a notebook: found, made, changed, kept; it must not run them."""
