"""Forged certificates: the ways in which the toy's certificate is changed."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from tests.certificates.proving import toy_certificate
from tests.certificates.toy import Term
from tests.certificates.writing import Certificate, archive, certificate_file, members


@dataclass(frozen=True)
class Forgery:
    """A forged certificate: what is forged, the rule that refuses the file, and the options of the checker.

    `rule` is empty for a change that makes no difference: a checker accepts the file.
    """

    name: str
    rule: str
    content: Callable[[], bytes]
    system: bytes | None = None
    memory: str | None = None

    @property
    def status(self) -> int:
        """The exit status of a checker."""
        return {"": 0, "format": 2}.get(self.rule, 1)

    def __str__(self) -> str:
        return f"{self.rule or 'accepted'}: {self.name}"


def of_certificate(rule: str, name: str, change: Callable[[Certificate], Certificate]) -> Forgery:
    """Forge what the certificate says."""
    return Forgery(name, rule, lambda: certificate_file(change(toy_certificate())))


def of_members(
    rule: str, name: str, change: Callable[[dict[str, bytes]], Mapping[str, bytes]], memory: str | None = None
) -> Forgery:
    """Forge the members of the archive."""
    return Forgery(name, rule, lambda: archive(change(members(toy_certificate()))), memory=memory)


def of_file(rule: str, name: str, change: Callable[[bytes], bytes], memory: str | None = None) -> Forgery:
    """Forge the bytes of the file."""
    return Forgery(name, rule, lambda: change(certificate_file(toy_certificate())), memory=memory)


def of_text(rule: str, name: str, member: str, edits: Mapping[str, str]) -> Forgery:
    """Replace pieces of a text, each of which occurs once."""
    return of_members(rule, name, lambda all_members: {**all_members, member: edited(all_members[member], edits)})


def edited(content: bytes, edits: Mapping[str, str]) -> bytes:
    """Return a text with some pieces replaced; raise if a piece does not occur exactly once."""
    text = content.decode()
    for old, new in edits.items():
        if text.count(old) != 1:
            raise LookupError(f"{old!r} occurs {text.count(old)} times")
        text = text.replace(old, new)
    return text.encode()


def with_part(certificate: Certificate, index: int, **changes: Any) -> Certificate:
    """Return a certificate in which a part is changed."""
    return replace(certificate, parts=changed(certificate.parts, index, changes))


def with_set(certificate: Certificate, part: int, index: int, **changes: Any) -> Certificate:
    """Return a certificate in which a set of a part is changed."""
    return with_part(certificate, part, sets=changed(certificate.parts[part].sets, index, changes))


def with_claim(certificate: Certificate, part: int, **changes: Any) -> Certificate:
    """Return a certificate in which the claim of a part is changed."""
    return with_part(certificate, part, claims=changed(certificate.parts[part].claims, 0, changes))


def with_smallest(certificate: Certificate, part: int, **changes: Any) -> Certificate:
    """Return a certificate in which the smallest fault set of a part's claim is changed."""
    return with_claim(certificate, part, smallest=changed(certificate.parts[part].claims[0].smallest, 0, changes))


def changed(items: Sequence[Any], index: int, changes: Mapping[str, Any]) -> list[Any]:
    """Return the items with one of them changed."""
    return [replace(one, **changes) if number == index else one for number, one in enumerate(items)]


def with_action(certificate: Certificate, name: str, **changes: Any) -> Certificate:
    """Return a certificate of a system in which an action is changed."""
    (index,) = [number for number, action in enumerate(certificate.system.actions) if action.name == name]
    actions = changed(certificate.system.actions, index, changes)
    return replace(certificate, system=replace(certificate.system, actions=actions))


def with_updates(certificate: Certificate, name: str, **updates: Term) -> Certificate:
    """Return a certificate of a system in which an action has other updates."""
    return with_action(certificate, name, updates=updates)


def with_property(certificate: Certificate, index: int, **changes: Any) -> Certificate:
    """Return a certificate of a system in which a property is changed."""
    properties = changed(certificate.system.properties, index, changes)
    return replace(certificate, system=replace(certificate.system, properties=properties))


def with_variable(certificate: Certificate, name: str, domain: tuple[int, int, int]) -> Certificate:
    """Return a certificate of a system in which a variable has another domain."""
    system = certificate.system
    return replace(certificate, system=replace(system, variables={**system.variables, name: domain}))
