"""Numeric kernels: Python functions on arrays that the build compiles into one shared library.

A kernel's plain Python body is its definition. The build (`native/`) compiles every kernel for its declared
types, and calling a kernel runs the compiled form. Without a library (an unknown platform, a failed build)
the plain form runs.
"""

from __future__ import annotations

from captious.kernels.library import Inner, Kernel, inner, kernel, plain_forms

__all__ = ["Inner", "Kernel", "inner", "kernel", "plain_forms"]
