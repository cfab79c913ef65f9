"""Path of the browser for tests."""

from __future__ import annotations

import os
import shutil


def executable() -> str | None:
    """Return the path of Chromium (``CAPTIOUS_BROWSER``, else the first usual name on the PATH), or None."""
    return os.environ.get("CAPTIOUS_BROWSER") or next(
        (path for name in ("chromium", "chromium-browser", "google-chrome") if (path := shutil.which(name))),
        None,
    )
