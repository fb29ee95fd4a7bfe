"""The checkers under test: each takes a file and returns its exit status and what it prints."""

from __future__ import annotations

import importlib.util
import resource
import subprocess
import sys
from collections.abc import Callable
from contextlib import redirect_stderr, redirect_stdout
from functools import cache
from io import StringIO
from pathlib import Path
from types import ModuleType
from typing import NamedTuple

from tests.certificates.forging import Forgery

ROOT = Path(__file__).parents[2]
PLAIN = ROOT / "certcheck" / "plain" / "certcheck.py"


class Answer(NamedTuple):
    """The answer of a checker."""

    status: int
    text: str


Checker = Callable[[list[str]], Answer]


@cache
def plain_module() -> ModuleType:
    """Return the plain checker as a module."""
    found = importlib.util.spec_from_file_location("certcheck", PLAIN)
    assert found is not None and found.loader is not None
    module = importlib.util.module_from_spec(found)
    found.loader.exec_module(module)
    return module


NO_LIMIT = "1000GiB"
"""More memory than a machine has: the limit of the plain checker is one of its process, here that of the tests."""


def plain_program(arguments: list[str]) -> Answer:
    """Run the plain checker in a process of its own, which can have less memory than this one."""
    done = subprocess.run([sys.executable, PLAIN, *arguments], capture_output=True, text=True, timeout=60, check=False)
    return Answer(done.returncode, done.stdout + done.stderr)


def plain(arguments: list[str]) -> Answer:
    """Run the plain checker in this process, which keeps its own limit of memory."""
    output, limits = StringIO(), resource.getrlimit(resource.RLIMIT_DATA)
    try:
        with redirect_stdout(output), redirect_stderr(output):
            status = plain_module().main(arguments)
    finally:
        resource.setrlimit(resource.RLIMIT_DATA, limits)
    return Answer(status, output.getvalue())


def program(path: Path) -> Checker:
    """Return a checker that is a program of its own."""

    def run(arguments: list[str]) -> Answer:
        done = subprocess.run([path, *arguments], capture_output=True, text=True, timeout=60, check=False)
        return Answer(done.returncode, done.stdout + done.stderr)

    return run


def answer(checker: Checker, forgery: Forgery, folder: Path, memory: str = NO_LIMIT) -> Answer:
    """Write a forged file, and return what a checker says about it."""
    file = folder / "forged.cert"
    file.write_bytes(forgery.content())
    arguments = [str(file)]
    if forgery.system is not None:
        for name in ("system.smt2", "system.1.smt2"):
            (folder / name).write_bytes(forgery.system)
        arguments += ["--systems", str(folder)]
    if forgery.memory is not None and checker is plain:
        checker = plain_program
    return checker([*arguments, "--memory", forgery.memory or memory])


def expected(forgery: Forgery, found: Answer) -> bool:
    """Tell whether an answer has the status and the rule of a forgery, on one line."""
    start = {"": "", "format": "not a certificate: "}.get(forgery.rule, f"refused: {forgery.rule}: ")
    lines = found.text.strip().splitlines()
    return found.status == forgery.status and (not forgery.rule or (len(lines) == 1 and lines[0].startswith(start)))
