# SPDX-License-Identifier: GPL-2.0-or-later
"""For programs beside it that use gnitest, the package of the tests, which is not installed: `import testlib` stands before that."""

import sys
from pathlib import Path

sys.path.append(str(Path(__file__).resolve().parents[1] / "selftests/lib"))
