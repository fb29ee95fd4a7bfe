"""The versions of the model and of the packages that a verdict depends on."""

from __future__ import annotations

from importlib.metadata import PackageNotFoundError, version

from proofka.model.pipeline import VERSION


def versions() -> dict[str, str]:
    """Return the versions that a verdict depends on, by package."""
    found = {"model": VERSION}
    for package in ("proofka", "z3-solver", "llvmlite", "numba", "numpy"):
        try:
            found[package] = version(package)
        except PackageNotFoundError:
            found[package] = "not installed"
    return found
