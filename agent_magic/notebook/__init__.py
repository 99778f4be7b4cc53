"""Roof: the only room that knows IPython. It wires everything together."""
