"""What pages see and steer of agents and runs; it must not draw."""
