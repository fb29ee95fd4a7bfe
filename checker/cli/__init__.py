"""The command line: one file for each command.

This package alone imports every other package. Each command imports the heavy packages (solver, kernel, readers, Spark)
inside its function, so that ``--help`` and a wrong option answer at once.
"""

from proofka.checker.cli.program import app, main

__all__ = ["app", "main"]
