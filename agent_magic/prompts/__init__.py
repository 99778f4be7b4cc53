"""First floor: prompt templates and their rendering."""
