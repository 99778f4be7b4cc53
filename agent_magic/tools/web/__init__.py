"""What the tools that read the web share: addresses, connections, limits, text."""
