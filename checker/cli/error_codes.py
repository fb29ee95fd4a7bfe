"""The codes of errors of real clusters, from the classes that have them."""

from __future__ import annotations

from collections.abc import Iterator
from importlib import import_module
from pkgutil import iter_modules

WITH_CODES = (
    "proofka.checker.live.errors",
    "proofka.checker.conformance.errors",
    "proofka.checker.conformance.lab",
    "proofka.checker.reproduction.errors",
)
"""The modules, beside those of ``checker.cluster``, whose errors have codes."""


def meaning_of_code(word: str) -> str | None:
    """Return what an error's code means, in a sentence; None if no error has the code ``word``, in any case."""
    code = word.strip().upper()
    for error in _errors():
        if error.__dict__.get("code") == code and error.__doc__ is not None:
            meaning = " ".join(error.__doc__.partition("\n\n")[0].split())
            return f"{code} is the code of an error: {meaning} The message of the error says what to do."
    return None


def _errors() -> Iterator[type[Exception]]:
    """Yield the errors of real clusters, recordings and replays."""
    cluster = import_module("proofka.checker.cluster")
    modules = [f"proofka.checker.cluster.{module.name}" for module in iter_modules(cluster.__path__)]
    for name in (*modules, *WITH_CODES):
        for found in vars(import_module(name)).values():
            if isinstance(found, type) and issubclass(found, Exception) and found.__module__ == name:
                yield found
