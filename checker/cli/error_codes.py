"""The codes of errors, from the classes and the table that have them."""

from __future__ import annotations

from collections.abc import Iterator
from importlib import import_module
from pkgutil import iter_modules

WITH_CODES = (
    "proofka.checker.changes.errors",
    "proofka.checker.cli.assistants.errors",
    "proofka.checker.live.errors",
    "proofka.checker.conformance.errors",
    "proofka.checker.conformance.lab",
    "proofka.checker.policies.errors",
    "proofka.checker.reproduction.errors",
    "proofka.checker.risk.errors",
)
"""The modules, beside those of ``checker.cluster``, whose errors have codes."""


def meaning_of_code(word: str) -> str | None:
    """Return what an error's code means, in a sentence; None if no error has the code ``word``, in any case."""
    code = word.strip().upper()
    of_project_files = import_module("proofka.checker.project.errors").codes()
    if code in of_project_files:
        row = of_project_files[code]
        return f"{code} is the code of an error in a project file or in rates: {row['what']} {row['instead']}"
    for error in errors():
        if error.__dict__.get("code") == code and error.__doc__ is not None:
            meaning = " ".join(error.__doc__.partition("\n\n")[0].split())
            return f"{code} is the code of an error: {meaning} The message of the error says what to do."
    return None


def errors() -> Iterator[type[Exception]]:
    """Yield the classes of errors with codes."""
    cluster = import_module("proofka.checker.cluster")
    modules = [f"proofka.checker.cluster.{module.name}" for module in iter_modules(cluster.__path__)]
    for name in (*modules, *WITH_CODES):
        for found in vars(import_module(name)).values():
            if isinstance(found, type) and issubclass(found, Exception) and found.__module__ == name:
                yield found
