"""What code may do, read from its syntax tree, and its compiling; it must not run it."""
