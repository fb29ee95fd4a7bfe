"""What the Java producer makes of its settings (``ProducerConfig``, ``KafkaProducer``; client 0.10 and later).

The rules' numbers (P02 and so on) are those of docs/client-rules.md. The client asks whether a key was *set*, not what
its value is: an explicit ``enable.idempotence=true`` behaves differently from the same default (P19).
"""

from __future__ import annotations

from dataclasses import dataclass

from model.deployment.deployment import Acks, Setting
from model.deployment.release import IDEMPOTENT, Release
from model.deployment.section import Section
from model.deployment.sender import OF_JAVA, Sender

KEYS = (
    "acks",
    "retries",
    "enable.idempotence",
    "max.in.flight.requests.per.connection",
    "delivery.timeout.ms",
    "request.timeout.ms",
    "linger.ms",
    "transaction.two.phase.commit.enable",
)
"""The settings these rules read: their values must be known. (Any transactional.id will do, a placeholder too.)"""

IDEMPOTENCE = "enable.idempotence"
IN_FLIGHT = "max.in.flight.requests.per.connection"
TRANSACTIONAL = "transactional.id"
DELIVERY = "delivery.timeout.ms"
_LARGEST_INT = 2**31 - 1


@dataclass(frozen=True)
class ProducerValues:
    """The producer's effective settings."""

    acks: Acks
    retries: int
    idempotence: bool
    max_in_flight: int
    expires_in_accumulator: bool
    transactional: bool
    sender: Sender
    settings: tuple[Setting, ...]
    notes: tuple[str, ...]


def apply_producer_rules(section: Section, kafka: Release) -> ProducerValues:
    """The effective settings, or the refusal with the client's own exception. ``kafka``: the release of the brokers."""
    notes: list[str] = []
    acks = _acks(section)
    idempotence = _idempotence(section, acks, notes)
    if idempotence.value == "true" and acks.value != Acks.ALL:
        # Only clients up to 2.8 come here: their default is acks=1.
        acks = section.derived("acks", Acks.ALL, "P08: idempotence needs acks=all")
        notes.append(f"{section.software} takes acks=all because idempotence is on and acks is not set (rule P08)")
    if idempotence.value == "true":
        _check_idempotence(section, kafka)
    delivery = (_delivery_timeout(section, notes),) if section.knows(DELIVERY) else ()
    _check_transactions(section)
    keys = (
        "retries",
        IN_FLIGHT,
        "request.timeout.ms",
        "linger.ms",
        *((TRANSACTIONAL,) if section.has(TRANSACTIONAL) else ()),
    )
    rest = tuple(section.setting(key) for key in keys)
    return ProducerValues(
        acks=Acks(acks.value),
        retries=section.integer("retries"),
        idempotence=idempotence.value == "true",
        max_in_flight=section.integer(IN_FLIGHT),
        expires_in_accumulator=not delivery,
        transactional=section.has(TRANSACTIONAL),
        sender=OF_JAVA,
        settings=(acks, idempotence, *rest, *delivery),
        notes=tuple(notes),
    )


def _check_idempotence(section: Section, kafka: Release) -> None:
    oldest = ".".join(map(str, IDEMPOTENT))
    for whose, release in (("clients", section.release), ("brokers", kafka)):
        if release.line < IDEMPOTENT:
            instead = f"set {IDEMPOTENCE}=false"
            instead = f"remove {TRANSACTIONAL}" if section.has(TRANSACTIONAL) else instead
            what = f"idempotent producers with {whose} before {oldest}; {instead} to check without"
            raise section.not_modelled(IDEMPOTENCE, what)


def _acks(section: Section) -> Setting:
    setting = section.setting("acks")
    value = Acks.ALL if setting.value == "-1" else Acks(setting.value)
    return Setting(setting.scope, setting.key, value, setting.origin)


def _idempotence(section: Section, acks: Setting, notes: list[str]) -> Setting:
    if not section.knows(IDEMPOTENCE):
        return section.derived(IDEMPOTENCE, "false", "there is none before 0.11")
    if _before_default_fix(section):
        return _idempotence_before_fix(section, acks, notes)
    conflicts = _conflicts(section, acks, ("P02", "P03", "P06"))
    if section.release.line >= (4, 0) and section.flag(IDEMPOTENCE) and section.integer(IN_FLIGHT) > 5:
        # 4.0 tests this while idempotence still counts as on, even where acks=1 would switch it off.
        why = f"{IN_FLIGHT} must be at most 5 unless {IDEMPOTENCE}=false is set"
        raise section.refused(IN_FLIGHT, "ConfigException", why, "P07")
    if section.has(IDEMPOTENCE):
        if not section.flag(IDEMPOTENCE):
            _refuse_transactional(section, "P16")
        elif conflicts:
            key, rule, why = conflicts[0]
            raise section.refused(key, "ConfigException", why, rule)
        return section.flag_setting(IDEMPOTENCE)
    if not conflicts:
        return section.flag_setting(IDEMPOTENCE)
    _refuse_transactional(section, "P18")
    rules = {"acks": "P12", "retries": "P13", IN_FLIGHT: "P14"}
    causes = " and ".join(section.where(key) for key, _, _ in conflicts)
    rule = rules[conflicts[0][0]]
    notes.append(f"{section.software} silently switches idempotence off because of {causes} (rule {rule})")
    return section.derived(IDEMPOTENCE, "false", f"{rule}: switched off by {causes}")


def _conflicts(section: Section, acks: Setting, rules: tuple[str, str, str]) -> list[tuple[str, str, str]]:
    """What stands against idempotence: key, rule that refuses it, and why."""
    found = []
    if acks.value != Acks.ALL:
        found.append(("acks", rules[0], "acks must be all with enable.idempotence=true"))
    if section.integer("retries") == 0:
        found.append(("retries", rules[1], "retries must be greater than 0 with enable.idempotence=true"))
    if section.integer(IN_FLIGHT) > 5:
        found.append((IN_FLIGHT, rules[2], f"{IN_FLIGHT} must be at most 5 with enable.idempotence=true"))
    return found


def _before_default_fix(section: Section) -> bool:
    """Whether the declared default of enable.idempotence is not in force: up to 2.8, in 3.0.0 and in 3.1.0."""
    release = section.release
    if release.line < (3, 0):
        return True
    if release.line > (3, 1):
        return False
    if release.patch is None and not section.has(IDEMPOTENCE):
        raise section.at(
            IDEMPOTENCE,
            f"Java producer {release}.0 leaves idempotence off by default, {release}.1 has it on (rule P11): "
            f"say the patch level of the version, or set enable.idempotence",
        )
    return release.patch == 0


def _idempotence_before_fix(section: Section, acks: Setting, notes: list[str]) -> Setting:
    transactional = section.has(TRANSACTIONAL)
    explicit = section.has(IDEMPOTENCE)
    on = section.flag(IDEMPOTENCE) if explicit else transactional
    if explicit and not on:
        _refuse_transactional(section, "P16")
    if not on:
        if not explicit and section.release.line >= (3, 0):
            notes.append(f"{section.software} leaves idempotence off although its documented default is on (rule P11)")
            return section.derived(IDEMPOTENCE, "false", "P11: off in 3.0.0 and 3.1.0 unless set")
        return section.flag_setting(IDEMPOTENCE)
    rules = ("P02", "P03", "P05") if explicit else ("P17", "P17", "P17")
    for key, rule, why in _conflicts(section, acks, rules):
        if section.has(key):
            raise section.refused(key, "ConfigException", why, rule)
    if explicit:
        return section.flag_setting(IDEMPOTENCE)
    return section.derived(IDEMPOTENCE, "true", "P15: transactional.id switches idempotence on")


def _refuse_transactional(section: Section, rule: str) -> None:
    if section.has(TRANSACTIONAL):
        raise section.refused(TRANSACTIONAL, "ConfigException", "transactional.id needs idempotence", rule)


def _delivery_timeout(section: Section, notes: list[str]) -> Setting:
    linger = min(section.integer("linger.ms"), _LARGEST_INT)
    least = min(linger + section.integer("request.timeout.ms"), _LARGEST_INT)
    if section.integer(DELIVERY) >= least:
        return section.setting(DELIVERY)
    sum_of = f"linger.ms + request.timeout.ms = {least}"
    if section.has(DELIVERY):
        raise section.refused(DELIVERY, "ConfigException", f"{DELIVERY} must be at least {sum_of}", "P20")
    notes.append(f"{section.software} raises {DELIVERY} to {sum_of} (rule P21)")
    return section.derived(DELIVERY, str(least), f"P21: raised to {sum_of}")


def _check_transactions(section: Section) -> None:
    two_phase = "transaction.two.phase.commit.enable"
    if section.has(two_phase) and section.flag(two_phase) and section.has("transaction.timeout.ms"):
        why = f"transaction.timeout.ms must not be set with {two_phase}=true"
        raise section.refused("transaction.timeout.ms", "ConfigException", why, "P22")
    if section.has(two_phase) and section.flag(two_phase) and section.has(TRANSACTIONAL):
        raise section.not_modelled(two_phase, "transactions that another coordinator decides; switch it off")
