from __future__ import annotations

import sys
from pathlib import Path

# The benchmarks are scripts beside the package, not part of it.
sys.path.append(str(Path(__file__).resolve().parents[3]))
