"""First floor: tools, from any callable: what a model is told of one and how its call gets there."""
