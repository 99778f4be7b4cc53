"""Second floor, left wing: the loop. No IPython, no drawing."""
