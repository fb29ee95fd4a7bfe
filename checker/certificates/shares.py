"""Shares of a check: each of several processes checks some states of each set of a certificate, and all the rest."""

from __future__ import annotations

import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from proofka.checker.archive import sha256_of_file
from proofka.checker.certificates.checkers import ACCEPTED, HOW_TO_INSTALL, Answer, Checker, NoChecker, asked

NO_OBJECTION, PROVED = "no objection: ", "proved: "
"""The beginning of a line about a claim: of a share, and of all shares together."""

UNKNOWN = "no such argument: --share"
"""The beginning of the answer of a checker that has no shares."""


@dataclass(frozen=True)
class Share:
    """A share of a check: its number, from 1 to ``of``, and the texts that the systems must be, by name.

    ``sha256``: of the file, whose copies on other machines must be the same.
    """

    checker: Checker
    file: Path
    sha256: str
    systems: Mapping[str, str]
    memory: int
    number: int
    of: int


Ask = Callable[[Sequence[Share]], Sequence[Answer | str]]
"""A function that lets other processes check shares; a text is the reason why a process could not."""


@dataclass(frozen=True)
class Shared:
    """A check in ``of`` shares, which ``ask`` gives to processes. ``beside``: the largest number in one memory."""

    ask: Ask
    of: int
    beside: int

    def __call__(self, checker: Checker, file: Path, *, systems: Path, memory: int) -> Answer:
        """Let the file be checked; accept if all shares do. Raise :class:`NoChecker`."""
        texts = {one.name: one.read_text(encoding="utf-8") for one in systems.iterdir()}
        begun = time.monotonic()
        each = memory // self.beside
        digest = sha256_of_file(file)
        shares = [Share(checker, file.absolute(), digest, texts, each, one, self.of) for one in range(1, self.of + 1)]
        return _together(self.ask(shares), time.monotonic() - begun)


def _together(found: Sequence[Answer | str], seconds: float) -> Answer:
    """Return the first answer that does not accept, otherwise the claims to which no share objects."""
    answers = []
    for one in found:
        if isinstance(one, str):
            raise NoChecker(one)
        answers.append(one)
    for answer in answers:
        if answer.status != ACCEPTED:
            return answer
    *lines, _ = answers[0].lines
    claims = [[line for line in answer.lines if line.startswith(NO_OBJECTION)] for answer in answers]
    if not claims[0] or any(one != claims[0] for one in claims):
        raise NoChecker("the shares of the check are not about the same claims")
    told = [PROVED + line.removeprefix(NO_OBJECTION) if line.startswith(NO_OBJECTION) else line for line in lines]
    return Answer(ACCEPTED, (*told, f"accepted: all {len(answers)} shares, in {seconds:.1f} s"), seconds)


def check_share(share: Share) -> Answer | str:
    """Check a share in this process's place; return a reason if that is not possible here."""
    program = share.checker.file
    try:
        if sha256_of_file(program) != share.checker.sha256:
            return f"{program}: is another program on a machine of Spark"
        with tempfile.TemporaryDirectory() as folder:
            for name, text in share.systems.items():
                (Path(folder) / name).write_text(text, encoding="utf-8", newline="")
            words = ("--threads", "1", "--share", f"{share.number}/{share.of}")
            # The file is hashed behind the check as well: all shares must be of one content.
            before = sha256_of_file(share.file)
            answer = asked(share.checker, share.file, systems=Path(folder), memory=share.memory, more=words)
            if {before, sha256_of_file(share.file)} != {share.sha256}:
                return f"{share.file}: is another file on a machine of Spark"
    except OSError as error:
        return f"{error.filename or program}: {(error.strerror or str(error)).lower()}"
    if any(line.startswith((UNKNOWN, "usage: certcheck.py")) for line in answer.lines):
        return f"{share.checker.program} checks no shares: {HOW_TO_INSTALL}"
    return answer
