"""Tests of `captious.kernels` and of the build."""
