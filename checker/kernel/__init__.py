"""Terms to machine code, and the compiled loops around it.

Numba keeps compiled loops on disk, but only looks at a function's own file to tell whether they are still valid. The
loops here share constants across files, so their cache lies in a folder named after the content of all of them.
"""

from __future__ import annotations

import hashlib
import os
from pathlib import Path
from typing import Any

import numba.core.config as _config

from checker.user_cache import user_cache


def _content() -> str:
    sources = sorted(Path(__file__).parent.glob("*.py"))
    return hashlib.sha256(b"".join(source.read_bytes() for source in sources)).hexdigest()[:16]


CONTENT = _content()
"""What the kernel's sources say, as a hash: compiled loops of another kernel are not used."""


if not os.environ.get("NUMBA_CACHE_DIR"):
    config: Any = _config
    config.CACHE_DIR = str(user_cache() / "kernel" / CONTENT)
