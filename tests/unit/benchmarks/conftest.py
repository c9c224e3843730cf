from __future__ import annotations

import sys
from pathlib import Path

# The benchmarks are scripts beside the package, not part of it, and not in a source distribution.
ROOT = Path(__file__).resolve().parents[3]
if (ROOT / "benchmarks").is_dir():
    sys.path.append(str(ROOT))
else:
    collect_ignore_glob = ["test_*.py"]
