"""Machine code from terms, and the compiled loops that call the machine code.

Numba caches compiled loops on disk, and checks only a function's own file for changes. The loops here share constants
across files, so the name of the cache folder contains a hash of all files of the kernel.
"""

from __future__ import annotations

import hashlib
import os
from pathlib import Path
from typing import Any

import numba.core.config as _config

from proofka.checker.user_cache import user_cache


def _content() -> str:
    sources = sorted(Path(__file__).parent.glob("*.py"))
    return hashlib.sha256(b"".join(source.read_bytes() for source in sources)).hexdigest()[:16]


CONTENT = _content()
"""Hash of the kernel's source files. Compiled loops of another kernel are not used."""


if not os.environ.get("NUMBA_CACHE_DIR"):
    config: Any = _config
    config.CACHE_DIR = str(user_cache() / "kernel" / CONTENT)
