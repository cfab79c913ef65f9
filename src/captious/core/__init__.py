"""Foundations: errors, arrays, digests, files, caches, threads and progress. Uses only `captious.kernels`."""
