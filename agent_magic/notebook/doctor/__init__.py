"""`%agent doctor`: what the machine lacks, each with its fix; it must not need what it looks for."""
