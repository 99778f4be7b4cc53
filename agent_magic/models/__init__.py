"""First floor: models behind one interface. They know messages and schemas, never tools or agents."""
