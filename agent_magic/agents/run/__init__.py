"""One execution of a task: its steps while they are made, and what others ask of it; it must not know what a step does."""
