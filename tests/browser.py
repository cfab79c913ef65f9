"""Where the browser is that tests drive, if there is one."""

from __future__ import annotations

import os
import shutil


def executable() -> str | None:
    """The path of Chromium: ``CAPTIOUS_BROWSER``, or what Debian and others call it."""
    return os.environ.get("CAPTIOUS_BROWSER") or next(
        (path for name in ("chromium", "chromium-browser", "google-chrome") if (path := shutil.which(name))),
        None,
    )
