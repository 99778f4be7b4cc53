"""The calls of tools and managed agents: who may make them, where each is made, what came of it."""
