"""Machine code from terms, and the compiled loops that call the machine code.

Numba caches compiled loops on disk, and checks only a function's own file for changes. The loops here share constants
across files, so the name of the cache folder contains a hash of all files of the kernel. Numba refuses to load a loop
whose folder cannot be written; where the user's cache cannot be written, a temporary folder has the loops of this
process.
"""

from __future__ import annotations

import atexit
import hashlib
import os
import shutil
import tempfile
from pathlib import Path
from typing import Any

import numba.core.config as _config

from proofka.checker.user_cache import HOME, LOG, user_cache


def _content() -> str:
    sources = sorted(Path(__file__).parent.glob("*.py"))
    return hashlib.sha256(b"".join(source.read_bytes() for source in sources)).hexdigest()[:16]


CONTENT = _content()
"""Hash of the kernel's source files. Compiled loops of another kernel are not used."""


def _folder() -> Path:
    """Return a folder for compiled loops that can be written: the user's, or a new one that this process removes."""
    kept = user_cache() / "kernel" / CONTENT
    try:
        kept.mkdir(parents=True, exist_ok=True)
        tempfile.TemporaryFile(dir=kept).close()
        return kept
    except OSError as error:
        LOG.warning(f"{kept}: {error.strerror}: this command compiles its loops anew", extra={"variable": HOME})
    own, process = Path(tempfile.mkdtemp(prefix="proofka-kernel-")), os.getpid()
    atexit.register(lambda: shutil.rmtree(own, ignore_errors=True) if os.getpid() == process else None)
    return own


if not os.environ.get("NUMBA_CACHE_DIR"):
    config: Any = _config
    config.CACHE_DIR = str(_folder())
