"""Code ended before its last line, in whichever thread it runs; it must not know what code that is."""
