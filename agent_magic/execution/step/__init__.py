"""One block of code while it runs: its clock, its turn, its names, the person's code inside it; it must not compile it."""
