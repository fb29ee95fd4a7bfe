"""The rules by which the Java producer interprets its settings (``ProducerConfig``, ``KafkaProducer``; client 0.10 and
later).

The rules' numbers (P02 and so on) are those of docs/client-rules.md. The client asks whether a key was *set*, not what
its value is: an explicit ``enable.idempotence=true`` behaves differently from the same default (P19).
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from proofka.model.deployment.choices import Acks
from proofka.model.deployment.errors import DeploymentError
from proofka.model.deployment.given import Given, not_modelled
from proofka.model.deployment.older_transactions import OlderTransactions, older_transactions_of
from proofka.model.deployment.problems import first_of
from proofka.model.deployment.release import FIRST_IDEMPOTENT, IDEMPOTENT, JAVA, Release
from proofka.model.deployment.section import Section
from proofka.model.deployment.sender import OF_JAVA, ClientRecovery, Sender
from proofka.model.deployment.sequencing import Sequencing, sequencing_of
from proofka.model.deployment.setting import Setting

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
"""The settings that these rules read: their values must be known. (``transactional.id`` may be any value, even a
placeholder.)"""

IDEMPOTENCE = "enable.idempotence"
IN_FLIGHT = "max.in.flight.requests.per.connection"
TRANSACTIONAL = "transactional.id"
DELIVERY = "delivery.timeout.ms"
MIXES_IDS = ((1, 0), (2, 2))
"""The first and last client release lines that confuse sequence numbers of different producer ids (KAFKA-8483)."""

LATE_ERRORS_COUNT = ((2, 1), (3, 6))
"""The first release, and the first release after, in which an error for a send that has already failed changes sequence
numbers (KAFKA-14397)."""

KEEPS_NUMBERS = ((2, 5, 0), (2, 7, 1))
"""The first release, and the first release after, in which old sequence numbers can continue in an epoch that another
partition began."""

ALWAYS_RETRIES = (2, 1)
"""The first release with unlimited retries by default, idempotent or not."""

_LARGEST_INT = 2**31 - 1


@dataclass(frozen=True)
class ProducerValues:
    """The producer's effective settings."""

    acks: Acks
    retries: int
    idempotence: bool
    sequencing: Sequencing | None
    max_in_flight: int
    expires_in_accumulator: bool
    transactional: bool
    sender: Sender
    settings: tuple[Setting, ...]
    notes: tuple[str, ...]
    older_transactions: OlderTransactions | None = None


def apply_producer_rules(section: Section, kafka: Release) -> ProducerValues:
    """Return the effective settings, or raise the client's own exception. ``kafka``: the release of the brokers."""
    notes: list[str] = []
    acks, retries, in_flight = _acks(section), section.setting("retries"), section.setting(IN_FLIGHT)
    idempotence = _idempotence(section, acks, notes)
    if idempotence.value == "true" and acks.value != Acks.ALL:
        # Only clients up to 2.8 get here, because their default is acks=1.
        acks = section.derived("acks", Acks.ALL, "P08: idempotence needs acks=all")
        notes.append(f"{section.software} uses acks=all because idempotence is on and acks is not set (rule P08)")
    if idempotence.value == "true" and section.release.line < ALWAYS_RETRIES and not section.has("retries"):
        retries = section.derived("retries", str(_LARGEST_INT), "P09: idempotence retries without limit")
    if idempotence.value == "true" and _sends_one_at_a_time(section) and not section.has(IN_FLIGHT):
        in_flight = section.derived(IN_FLIGHT, "1", "P10: lowered for idempotence")
    if idempotence.value == "true":
        _check_idempotence(section, kafka, int(in_flight.value))
    delivery = (_delivery_timeout(section, notes),) if section.knows(DELIVERY) else ()
    _check_transactions(section)
    keys = (
        "request.timeout.ms",
        "linger.ms",
        *((TRANSACTIONAL,) if section.has(TRANSACTIONAL) else ()),
    )
    rest = tuple(section.setting(key) for key in keys)
    numbered, transactional = idempotence.value == "true", section.has(TRANSACTIONAL)
    numbers_can_continue = KEEPS_NUMBERS[0] <= section.release.full < KEEPS_NUMBERS[1]
    return ProducerValues(
        acks=Acks(acks.value),
        retries=int(retries.value),
        idempotence=numbered,
        sequencing=sequencing_of(section.release, kafka) if numbered and not transactional else None,
        older_transactions=older_transactions_of(section.release, kafka) if transactional else None,
        max_in_flight=int(in_flight.value),
        expires_in_accumulator=not delivery,
        transactional=transactional,
        sender=replace(
            OF_JAVA,
            late_errors_count=_late_errors_count(section, numbered),
            recovery=ClientRecovery.JAVA_2_7_0 if numbers_can_continue else ClientRecovery.JAVA,
        ),
        settings=(acks, idempotence, retries, in_flight, *rest, *delivery),
        notes=tuple(notes),
    )


def _late_errors_count(section: Section, idempotence: bool) -> bool:
    """Tell whether a late error changes the sequence numbers of later sends. With transactions, the transaction is
    aborted (semantics 3.4)."""
    first, mended = LATE_ERRORS_COUNT
    return idempotence and first <= section.release.line < mended and not section.has(TRANSACTIONAL)


def _check_idempotence(section: Section, kafka: Release, in_flight: int) -> None:
    """Raise NotModelledError for releases that do not work together and for errors of old clients that the model
    lacks."""
    without = f"set {IDEMPOTENCE}=false to check without idempotence"
    client = section.release
    for whose, release in (("clients", client), ("brokers", kafka)):
        if section.has(TRANSACTIONAL) and release.line < FIRST_IDEMPOTENT:
            what = (
                f"transactions with {whose} before {_of(FIRST_IDEMPOTENT)}; remove {TRANSACTIONAL} to check without "
                "transactions"
            )
            raise section.not_modelled(TRANSACTIONAL, "N30", what)
    if kafka.line < FIRST_IDEMPOTENT:
        what = f"idempotence with brokers before {_of(FIRST_IDEMPOTENT)}; {without}"
        raise section.not_modelled(IDEMPOTENCE, "N10", what)
    older, newer = sorted((client.line, kafka.line))
    if older < (2, 1) and newer >= (4, 0):
        what = f"idempotence with client and brokers of too different releases (KIP-896); {without}"
        raise section.not_modelled(IDEMPOTENCE, "N11", what)
    # A producer with transactions has one id, and at most three records in flight, which stay in order.
    mixes = MIXES_IDS[0] <= client.line <= MIXES_IDS[1] and not section.has(TRANSACTIONAL)
    if mixes and in_flight > 1:
        what = (
            f"idempotent producers of {_of(MIXES_IDS[0])} to {_of(MIXES_IDS[1])} with more than one request in flight"
        )
        raise section.not_modelled(IN_FLIGHT, "N12", f"{what}; set {IN_FLIGHT}=1, or {without}")


def check_brokers(section: Section, brokers: Given, kafka: Release, *, idempotence: bool) -> None:
    """Raise NotModelledError for an idempotent producer of another library than Java's with old brokers.

    ``brokers``: the place where the release of the brokers is named.
    """
    if idempotence and kafka.line < IDEMPOTENT and section.library != JAVA:
        what = (
            f"idempotent producers of {section.library} with brokers before 2.5; name newer brokers, or disable "
            "idempotence"
        )
        raise not_modelled(brokers, "N14", what)


def check_format(section: Section, *, idempotence: bool, keeps_producer_ids: bool) -> None:
    """Raise NotModelledError for an idempotent producer where records have no producer id."""
    if idempotence and not keeps_producer_ids:
        what = "idempotence with the record format of 0.10, which brokers refuse; set a newer record format"
        raise section.not_modelled(IDEMPOTENCE, "N13", what)


def _of(line: tuple[int, int]) -> str:
    return ".".join(map(str, line))


def _sends_one_at_a_time(section: Section) -> bool:
    return section.release.line < (1, 0)


def _acks(section: Section) -> Setting:
    setting = section.setting("acks")
    value = Acks.ALL if setting.value == "-1" else Acks(setting.value)
    return Setting(setting.scope, setting.key, value, setting.origin)


def _idempotence(section: Section, acks: Setting, notes: list[str]) -> Setting:
    if not section.knows(IDEMPOTENCE):
        return section.derived(IDEMPOTENCE, "false", "not available before 0.11")
    if _before_default_fix(section):
        return _idempotence_before_fix(section, acks, notes)
    conflicts = _conflicts(section, acks, ("P02", "P03", "P06"))
    refused: list[DeploymentError] = []
    too_many = section.release.line >= (4, 0) and section.flag(IDEMPOTENCE) and section.integer(IN_FLIGHT) > 5
    if too_many:
        # 4.0 checks this while idempotence still counts as on, even where acks=1 would disable it.
        why = f"{IN_FLIGHT} must be at most 5 unless {IDEMPOTENCE}=false is set"
        refused.append(section.refused(IN_FLIGHT, "ConfigException", why, "P07"))
    if section.has(IDEMPOTENCE) and section.flag(IDEMPOTENCE):
        others = [one for one in conflicts if not (too_many and one[0] == IN_FLIGHT)]
        refused += [section.refused(key, "ConfigException", why, rule) for key, rule, why in others]
    if refused:
        raise first_of(refused)
    if section.has(IDEMPOTENCE) and not section.flag(IDEMPOTENCE):
        _refuse_transactional(section, f"and {section.where(IDEMPOTENCE)} disables it", "P16")
    if section.has(IDEMPOTENCE) or not conflicts:
        return section.flag_setting(IDEMPOTENCE)
    causes = " and ".join(section.where(key) for key, _, _ in conflicts)
    _refuse_transactional(section, f"which {causes} would disable", "P18")
    rules = {"acks": "P12", "retries": "P13", IN_FLIGHT: "P14"}
    rule = rules[conflicts[0][0]]
    notes.append(f"{section.software} silently disables idempotence because of {causes} (rule {rule})")
    return section.derived(IDEMPOTENCE, "false", f"{rule}: disabled by {causes}")


def _conflicts(section: Section, acks: Setting, rules: tuple[str, str, str]) -> list[tuple[str, str, str]]:
    """Return the settings that contradict idempotence: key, rule that refuses the combination, and why."""
    cause = next((section.where(key) for key in (IDEMPOTENCE, TRANSACTIONAL) if section.has(key)), IDEMPOTENCE)
    most = 1 if _sends_one_at_a_time(section) else 5
    found = []
    if acks.value != Acks.ALL:
        found.append(("acks", rules[0], f"acks must be all with {cause}"))
    if section.integer("retries") == 0:
        found.append(("retries", rules[1], f"retries must be greater than 0 with {cause}"))
    if section.integer(IN_FLIGHT) > most:
        limit = f"at most {most}" if most > 1 else "1"
        found.append((IN_FLIGHT, rules[2], f"{IN_FLIGHT} must be {limit} with {cause}"))
    return found


def _before_default_fix(section: Section) -> bool:
    """Tell whether the declared default of enable.idempotence is not in force: up to 2.8, in 3.0.0 and in 3.1.0."""
    release = section.release
    if release.line < (3, 0):
        return True
    if release.line > (3, 1):
        return False
    if release.patch is None and not section.has(IDEMPOTENCE):
        raise section.at(
            IDEMPOTENCE,
            f"idempotence is off by default in Java producer {release}.0 and on in {release}.1 (rule P11): "
            f"name the patch level of the version, or set enable.idempotence",
        )
    return release.patch == 0


def _idempotence_before_fix(section: Section, acks: Setting, notes: list[str]) -> Setting:
    transactional = section.has(TRANSACTIONAL)
    explicit = section.has(IDEMPOTENCE)
    on = section.flag(IDEMPOTENCE) if explicit else transactional
    if explicit and not on:
        _refuse_transactional(section, f"and {section.where(IDEMPOTENCE)} disables it", "P16")
    if not on:
        if not explicit and section.release.line >= (3, 0):
            notes.append(f"{section.software} leaves idempotence off although its documented default is on (rule P11)")
            return section.derived(IDEMPOTENCE, "false", "P11: off in 3.0.0 and 3.1.0 unless set")
        return section.flag_setting(IDEMPOTENCE)
    in_flight = "P04" if _sends_one_at_a_time(section) else "P05"
    rules = ("P02", "P03", in_flight) if explicit else ("P17", "P17", "P17")
    conflicts = [one for one in _conflicts(section, acks, rules) if section.has(one[0])]
    if conflicts:
        raise first_of(section.refused(key, "ConfigException", why, rule) for key, rule, why in conflicts)
    if explicit:
        return section.flag_setting(IDEMPOTENCE)
    return section.derived(IDEMPOTENCE, "true", "P15: transactional.id enables idempotence")


def _refuse_transactional(section: Section, against: str, rule: str) -> None:
    """Raise RefusedError for a producer with transactions. ``against``: the settings that contradict, as a clause."""
    if section.has(TRANSACTIONAL):
        why = f"{TRANSACTIONAL} needs idempotence, {against}"
        raise section.refused(TRANSACTIONAL, "ConfigException", why, rule)


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
        what = "transactions with an external coordinator (two-phase commit); set this to false"
        raise section.not_modelled(two_phase, "N31", what)
