"""Verifying a certificate: the system is built anew from the deployment, and a separate program checks the rest."""

from __future__ import annotations

import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from checker.certificates.reading import DEPLOYMENT, SYSTEM, TIMES, Certificate, Claimed, read_certificate
from checker.certificates.systems import limits_of, system_text, timed_text
from checker.certificates.times import from_times
from checker.check import prepare_groups, question_ids
from checker.questions import Prepared
from checker.solver import Replayer
from checker.tampered import TamperedDocument
from checker.timing.refinement import Timing
from model.deployment.document import from_document
from model.pipeline import VERSION
from properties.catalogue import properties_of

PROGRAM = "certcheck"
"""Name of the checker on the search path."""

PLAIN = (
    Path(__file__).parents[2] / "certcheck" / "plain" / "certcheck.py",
    Path(sys.prefix) / "share" / "proofka" / "certcheck.py",
)
"""Places of the checker in Python: in the repository, and where Proofka is installed."""

ACCEPTED, REFUSED = 0, 1
"""Exit statuses of a checker that accepts, and of one that refuses."""


class NoChecker(Exception):
    """No program that checks certificates was found."""


@dataclass(frozen=True)
class Verified:
    """The lines of the checks that were done, and whether the certificate was accepted.

    ``is_of_this_model``: whether this version of the model could compare the system.
    """

    lines: tuple[str, ...]
    is_accepted: bool
    is_of_this_model: bool


def verify_certificate(file: Path) -> Verified:
    """Build the system of a certificate anew, and let a checker check the rest.

    Raise TamperedDocument where the file says something else than its deployment means, :class:`NoChecker`, OSError,
    and :class:`checker.certificates.reading.NoCertificate`.
    """
    certificate = read_certificate(file)
    is_of_this_model = certificate.model == VERSION
    lines = list(_compared(certificate)) if is_of_this_model else [_of_another(certificate)]
    with tempfile.TemporaryDirectory() as folder:
        for name, text in certificate.systems.items():
            (Path(folder) / Path(name).name).write_text(text, encoding="utf-8")
        command = [*checker(), str(file), "--systems", folder]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
    lines += (done.stdout + done.stderr).splitlines()
    return Verified(tuple(lines), done.returncode == ACCEPTED, is_of_this_model)


def checker() -> Sequence[str]:
    """Return the command of a checker: the fast one if it is installed, otherwise the one in Python.

    Raise :class:`NoChecker`.
    """
    fast = shutil.which(PROGRAM)
    if fast is not None:
        return (fast,)
    plain = next((path for path in PLAIN if path.is_file()), None)
    if plain is None:
        raise NoChecker(f"{PROGRAM} is not installed: cargo install --path certcheck, in Proofka's repository")
    return (sys.executable, str(plain))


def _compared(certificate: Certificate) -> Iterator[str]:
    """Compare the system and the ids with what the deployment means. Raise TamperedDocument."""
    deployment = from_document(certificate.deployment)
    prepared, groups = prepare_groups(deployment)
    timing = Timing(prepared, Replayer(prepared.model.system))
    for name, text in certificate.systems.items():
        if _built(name, certificate, prepared, timing) != text:
            raise TamperedDocument(f"{name} is another system than that of {DEPLOYMENT}")
    yield f"systems: {len(certificate.systems)} built again from the deployment, and equal"
    if dict(certificate.limits) != limits_of(deployment, prepared):
        raise TamperedDocument("the limits of faults are not those of deployment.json")
    ids = question_ids(deployment, prepared, groups)
    for claim in certificate.claims:
        if ids.get(claim.property) != claim.id:
            raise TamperedDocument(f"{claim.property}: the id of the claim is not that of its question")
    yield f"ids: {_number(certificate.claims)} computed again, and equal"


def _built(name: str, certificate: Certificate, prepared: Prepared, timing: Timing) -> str:
    """Return the text that a system should have. Raise TamperedDocument."""
    if name == SYSTEM:
        return system_text(prepared).text()
    asked = [claim.property for claim in certificate.claims if claim.system == name]
    if len(asked) != 1 or name not in certificate.times:
        raise TamperedDocument(f"{name} is a system with flags of {len(asked)} claims; a claim has its own")
    try:
        differences, bounds = from_times(certificate.times[name], prepared.model.system)
        prop = next(one for one in properties_of(prepared.model.pipeline) if one.name == asked[0])
    except (ValueError, TypeError, KeyError, StopIteration) as error:
        raise TamperedDocument(f"{name}: {TIMES} does not fit the model: {error}") from None
    return timed_text(prepared, timing, prop, differences, bounds).text()


def _number(claims: Sequence[Claimed]) -> str:
    return f"{len(claims)} id{'' if len(claims) == 1 else 's'}"


def _of_another(certificate: Certificate) -> str:
    return (
        f"system: not compared: model {certificate.model} wrote the certificate, and this is model {VERSION}; "
        f"the version of Proofka with model {certificate.model} compares it"
    )
