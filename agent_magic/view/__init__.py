"""Second floor, right wing: how a run is drawn, from its record alone, without an agent."""
