"""Verifying a certificate: the system is built anew from the deployment, and a separate program checks the rest."""

from __future__ import annotations

import re
import tempfile
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from pathlib import Path

from proofka.checker.archive import sha256_of_file
from proofka.checker.budget import Budget
from proofka.checker.certificates.checkers import (
    ACCEPTED,
    NO_CERTIFICATE,
    REFUSED,
    Asking,
    NoChecker,
    asked,
    checked_by,
    checker_for,
)
from proofka.checker.certificates.ranked import models_with_ranks, ranked_text
from proofka.checker.certificates.reading import (
    DEPLOYMENT,
    SYSTEM,
    TEXT,
    TIMES,
    Certificate,
    Claimed,
    NoCertificate,
    described,
    read_certificate,
)
from proofka.checker.certificates.systems import limits_of, system_text, timed_text, unlimited_in
from proofka.checker.certificates.times import from_times
from proofka.checker.check import prepare_groups, question_ids
from proofka.checker.fixed_point import LEADER_EPOCH
from proofka.checker.questions import Prepared
from proofka.checker.reductions.ranking import NotRankable
from proofka.checker.solver import Replayer
from proofka.checker.tampered import TamperedDocument
from proofka.checker.timing.refinement import Timing
from proofka.model.deployment.document import from_document
from proofka.model.input.input_error import InputError
from proofka.model.pipeline import VERSION
from proofka.properties import certified
from proofka.properties.catalogue import properties_of

_DECLARED = re.compile(r"^\(declare-const (\S+) Int\)$", re.MULTILINE)
"""The declaration of a variable in the text of a system."""


@dataclass(frozen=True)
class Verified:
    """The lines of the checks that were done, and whether the certificate was accepted.

    ``is_of_this_model``: whether this version of the model could compare the system. ``read``: the texts of the file.
    ``certificate``: the file in words of a result, with its check if everything was compared and accepted.
    """

    lines: tuple[str, ...]
    is_accepted: bool
    is_of_this_model: bool
    read: Certificate
    certificate: certified.Certificate


def verify_certificate(file: Path, memory: int | None = None, ask: Asking = asked) -> Verified:
    """Build the system of a certificate anew, and let a checker check the rest.

    ``memory``: largest number of bytes for the texts of the file, and for the checker; by default a part of the
    machine's memory. ``ask``: how the checker is run.

    Raise TamperedDocument where the file says something else than its deployment means, :class:`NoChecker`, OSError,
    :class:`checker.certificates.reading.NoCertificate`, and :class:`checker.certificates.reading.TooMuchMemory`.
    """
    memory = Budget().memory if memory is None else memory
    digest = sha256_of_file(file)
    read = read_certificate(file, memory)
    certificate = described(read, file.name, size=file.stat().st_size, sha256=digest)
    _compare_about(read)
    is_of_this_model = read.model == VERSION
    lines = [f"certificate: {certificate.bytes:,} bytes, SHA-256 {certificate.sha256}"]
    try:
        lines += _compared(read) if is_of_this_model else [_of_another(read)]
    except InputError as error:
        raise NoCertificate(f"is no certificate: {DEPLOYMENT}: {error}") from None
    program = checker_for(read.states)
    lines.append(f"checker: {program}")
    with tempfile.TemporaryDirectory() as folder:
        for name, text in read.systems.items():
            (Path(folder) / name).write_text(text, encoding="utf-8", newline="")
        answer = ask(program, file, systems=Path(folder), memory=memory)
    if answer.status not in (ACCEPTED, REFUSED, NO_CERTIFICATE):
        raise NoChecker(
            f"{program.program} ended with {answer.status}, which is no answer: {' '.join(answer.lines)[:200]}"
        )
    if answer.status == NO_CERTIFICATE:
        raise NoCertificate(f"{program.program}: {' '.join(answer.lines)}")
    if sha256_of_file(file) != digest:
        raise TamperedDocument("the file was changed while the file was checked")
    lines += answer.lines
    is_accepted = answer.status == ACCEPTED
    if is_accepted:
        lines += map(certified.not_covered, certificate.without_witness)
        checked = checked_by(program, answer)
        lines.append(f"checked by {checked}")
        certificate = replace(certificate, checked=checked if is_of_this_model else None)
    return Verified(tuple(lines), is_accepted, is_of_this_model, read, certificate)


def _compare_about(certificate: Certificate) -> None:
    """Compare the words about the file, which checkers only print, with the other members. Raise TamperedDocument."""
    name = str(certificate.deployment.get("name"))
    for word, text in certificate.about:
        if word == "deployment" and text != name:
            raise TamperedDocument(f"{TEXT} names the deployment {text!r}, and {DEPLOYMENT} names {name!r}")
        if word == "model" and text != certificate.model:
            raise TamperedDocument(f"{TEXT} names two models, {text!r} and {certificate.model!r}")


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
    asked_for = unlimited_in(deployment, certificate.limits)
    for claim in certificate.claims:
        if claim.unlimited not in (frozenset(), asked_for):
            raise TamperedDocument(
                f"{claim.property}: the kinds of fault without a limit are not those of {DEPLOYMENT}"
            )
        if asked_for and not claim.unlimited and not claim.smallest:
            raise TamperedDocument(
                f"{claim.property}: the claim is for a number of faults, and its question is for any number"
            )
        if ids.get(claim.property) != claim.id:
            raise TamperedDocument(f"{claim.property}: the id of the claim is not that of its question")
    yield f"ids: {_number(certificate.claims)} computed again, and equal"
    total = deployment.faults.total
    for claim in certificate.claims:
        others = (most for kind, most in certificate.limits.items() if kind not in claim.unlimited)
        if total is not None and claim.up_to < min(total, sum(others)):
            yield f"{claim.property}: proved for up to {claim.up_to} faults, and the question asks about {total}"


def _built(name: str, certificate: Certificate, prepared: Prepared, timing: Timing) -> str:
    """Return the text that a system should have. Raise TamperedDocument."""
    claims = [claim for claim in certificate.claims if claim.system == name]
    if any(claim.unlimited for claim in claims):
        return _with_ranks(name, certificate, claims)
    if name == SYSTEM:
        return system_text(prepared).text()
    asked = [claim.property for claim in claims]
    if name not in certificate.times:
        return _nearest(certificate.systems[name], _ranked_texts(name, certificate, [prepared], asked))
    if len(asked) != 1:
        raise TamperedDocument(f"{name} is a system with flags of {len(asked)} claims; a claim has its own")
    try:
        differences, bounds = from_times(certificate.times[name], prepared.model.system)
        prop = next(one for one in properties_of(prepared.model.pipeline) if one.name == asked[0])
    except (ValueError, TypeError, KeyError, StopIteration) as error:
        raise TamperedDocument(f"{name}: {TIMES} does not fit the model: {error}") from None
    return timed_text(prepared, timing, prop, differences, bounds).text()


def _with_ranks(name: str, certificate: Certificate, claims: Sequence[Claimed]) -> str:
    """Return the text that a system of claims for any number of faults should have. Raise TamperedDocument.

    Only a system with ranks covers any number of leader epochs. With a bound on epochs the same states are closed, and
    say nothing about further faults.
    """
    deployment = from_document(certificate.deployment)
    unlimited = unlimited_in(deployment, certificate.limits)
    if any(claim.unlimited != unlimited for claim in claims):
        raise TamperedDocument(f"{name}: the kinds of fault without a limit are not those of {DEPLOYMENT}")
    asked, models = [claim.property for claim in claims], models_with_ranks(deployment)
    return _nearest(certificate.systems[name], _ranked_texts(name, certificate, models, asked, [(LEADER_EPOCH,)]))


def _ranked_texts(
    name: str,
    certificate: Certificate,
    models: Iterable[Prepared],
    asked: Sequence[str],
    of: Sequence[tuple[str, ...]] = (),
) -> Iterator[str]:
    """Yield the texts that a system with ranks can have: of a model, for some families of epochs.

    ``of``: the families of each text; by default every choice of the declared ones. Raise TamperedDocument at the end
    if there was no such text.
    """
    kept = set(_DECLARED.findall(certificate.systems[name]))
    is_any, why = False, "no epochs can be ranked"
    for model in models:
        declared = [family.name for family in model.model.system.ranked]
        for families in of or [one for size in (1, 2) for one in combinations(declared, size)]:
            try:
                text = ranked_text(model, kept, asked, families).text()
            except (ValueError, NotRankable) as error:
                why = str(error)
            else:
                is_any = True
                yield text
    if not is_any:
        raise TamperedDocument(f"{name} is no system with ranks of {DEPLOYMENT}: {why}")


def _nearest(text: str, built: Iterator[str]) -> str:
    """Return the text itself if it is one of those that are built, and else the first of those.

    The models of further texts are not built once the text was found.
    """
    first = next(built)
    return text if text == first or text in built else first


def _number(claims: Sequence[Claimed]) -> str:
    return f"{len(claims)} id{'' if len(claims) == 1 else 's'}"


def _of_another(certificate: Certificate) -> str:
    return (
        f"system: not compared: model {certificate.model} wrote the certificate, and this is model {VERSION}; "
        f"the version of Proofka with model {certificate.model} compares it"
    )
