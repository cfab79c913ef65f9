"""Metrics: one file each, all driven through :mod:`captious.metrics.registry`."""
