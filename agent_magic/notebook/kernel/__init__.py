"""What is the kernel's: its variables, its code, its channels and its Ctrl-C; it must not know an agent."""
