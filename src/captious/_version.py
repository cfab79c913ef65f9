"""The version, in one place for the package, its signatures and its build."""

__version__ = "0.9.0"
