"""The package's version, in the one place that all others read."""

__version__ = "0.1.0"
