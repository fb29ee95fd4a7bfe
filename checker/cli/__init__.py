"""The command line, a file a command: the only place that sees every package.

What is heavy (solver, kernel, readers, Spark) is imported inside the commands, so that ``--help`` and a wrong option
answer at once.
"""

from checker.cli.program import app, main

__all__ = ["app", "main"]
