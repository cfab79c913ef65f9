"""See :mod:`tests.mutants`."""

from __future__ import annotations

import sys

from tests.mutants.run import main

sys.exit(main())
