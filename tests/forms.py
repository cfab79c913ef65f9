"""The two forms of kernels, for tests that run both."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from typing import Any

import pytest

from captious.kernels import Kernel, plain_forms

#: Attributes of a kernel that hold its forms.
FORMS = ("built", "plain")

#: Run a test with its parameter `form` set to each form.
both_forms = pytest.mark.parametrize("form", FORMS)


def running(form: str) -> AbstractContextManager[None]:
    """Run all kernels in this form inside the block."""
    return plain_forms() if form == "plain" else nullcontext()


def form_of(kernel: Kernel[..., Any], form: str) -> Callable[..., Any]:
    """Return one form of a kernel. The test is skipped if the library is out of date, which `tests/kernels` reports."""
    function: Callable[..., Any] | None = getattr(kernel, form)
    if function is None:
        pytest.skip(f"the library has no {kernel.symbol}")
    return function
