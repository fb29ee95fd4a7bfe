"""Words that every report shares: fault sets, bounds, origins, numbers, and the answer in one sentence."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from math import ceil

from proofka.model.deployment.setting import Origin
from proofka.properties.listing import fault_set as fault_set
from proofka.properties.listing import listed as listed
from proofka.properties.open_notes import STOPPED, holds_up_to
from proofka.properties.verdict import Coverage, CutSet, Sensitivity, Status, Step, Threshold, Verdict

SYMBOL: dict[Status, str] = {
    Status.VIOLATED: "✗",
    Status.HOLDS: "✓",
    Status.VACUOUS: "○",
    Status.UNKNOWN: "?",
}
"""A mark for each status, which distinguishes statuses in a table without colour."""

STOPPED_BRIEFLY: dict[str, str] = {
    "time": "time limit",
    "states": "state limit",
    "memory": "memory limit",
    "interrupted": "interrupted",
    "timed re-exploration": "limit of timed re-exploration",
    "lemmas": "too many timing lemmas",
    "answered": "not searched",
}
"""The words of a row for each reason of an early end."""

NOT_EXPLORED = "not explored"
"""The words of a row of an undecided property without another reason."""

MORE_POSSIBLE = "more possible"
"""The bounds of a violated property with unexplored fault sets that are not larger than the fault sets found."""


Words = Callable[[Verdict], str]
"""A function that describes one verdict in words."""


def plain(text: str) -> str:
    """Return ``text`` with control characters escaped: no input can move the cursor or start a line."""
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode("ascii") for c in text)


def status(verdict: Verdict) -> str:
    """Return ``violated``, ``holds``, or ``holds in time`` if the verdict depends on timing lemmas."""
    return f"{verdict.status} in time" if verdict.lemmas else str(verdict.status)


def number(value: int) -> str:
    """Return a count with thousands separators."""
    return f"{value:,}"


def brief(value: int) -> str:
    """Return a count in few characters: ``46,301``, ``37.3 M``."""
    return f"{value / 1e6:,.1f} M" if value >= 1e6 else number(value)


def duration(seconds: float) -> str:
    """Return a number of seconds in words: ``42 s``, ``4 min 12 s``, ``2 h 5 min``."""
    whole = round(seconds)
    if whole < 60:
        return f"{whole} s"
    minutes, rest = divmod(whole, 60)
    return f"{minutes} min {rest} s" if minutes < 60 else f"{minutes // 60} h {minutes % 60} min"


def about(seconds: float) -> str:
    """Return an estimated number of seconds in words: ``about 40 s``, ``about 3 min``, ``about 2 h``.

    Seconds and minutes are rounded up; hours are rounded to the nearest hour.
    """
    if seconds < 90:
        return f"about {max(1, ceil(seconds / 10)) * 10} s"
    return f"about {ceil(seconds / 60)} min" if seconds < 90 * 60 else f"about {round(seconds / 3600)} h"


def counted(count: int, noun: str) -> str:
    """Return a count with its noun: ``1 fault``, ``2 faults``."""
    return f"{number(count)} {noun}" if count == 1 else f"{number(count)} {noun}s"


def happens(step: Step) -> str:
    """Return the sentence of a step, after the kind of fault if the step is a fault: ``kill: broker 1 is killed``."""
    return f"{step.fault}: {step.text}" if step.fault else step.text


def announced(step: Step) -> str:
    """Return the sentence of a step with a mark for a fault: ``FAULT kill: broker 1 is killed``."""
    return f"FAULT {happens(step)}" if step.fault else step.text


def faults_needed(cut_set: CutSet) -> str:
    """Return a fault set for use in a sentence: ``kill``, ``2 slow-follower and power-loss``, ``no fault at all``."""
    if not cut_set:
        return "no fault at all"
    return listed([f"{count} {kind}" for kind, count in cut_set])


def plural(kind: str) -> str:
    """Return the plural of a kind of fault: ``kills``, ``power losses``, ``consumer crashes``."""
    words = kind.replace("-", " ")
    return words + ("es" if words.endswith(("s", "sh")) else "s")


def unlimited(verdict: Verdict) -> str:
    """Return ``any number of kills and power losses, 2 records`` if every number of faults was covered, or ``""``."""
    coverage = verdict.coverage
    if not coverage.any_number:
        return ""
    records = f", {counted(coverage.bounds['records'], 'record')}" if "records" in coverage.bounds else ""
    limited = [(kind, most) for kind, most in coverage.kinds if kind not in coverage.any_number]
    words = [f"at most {most} {kind.replace('-', ' ') if most == 1 else plural(kind)}" for kind, most in limited]
    first = f"any number of {listed([plural(kind) for kind in coverage.any_number])}"
    return ", ".join([first, *words]) + records


def any_faults(verdict: Verdict) -> str:
    """Return the bounds of a row: ``any 2 faults``, ``any number of kills``, ``more possible``."""
    return MORE_POSSIBLE if is_open_beside(verdict) else _explored(verdict.coverage)


def _explored(coverage: Coverage) -> str:
    """Return the number of faults that was explored in every combination: ``any 2 faults``, ``any number of kills``."""
    if coverage.any_number:
        everything = {kind for kind, _ in coverage.kinds} <= set(coverage.any_number) and len(coverage.kinds) > 2
        return f"any number of {'faults' if everything else listed([plural(kind) for kind in coverage.any_number])}"
    if coverage.complete_to < 0:
        return "not complete"
    return "no fault" if coverage.complete_to == 0 else f"any {counted(coverage.complete_to, 'fault')}"


def is_open_beside(verdict: Verdict) -> bool:
    """Tell whether unexplored fault sets are not larger than a printed fault set that violates the property."""
    largest = max((sum(count for _, count in cut_set) for cut_set in verdict.cut_sets), default=-1)
    return verdict.status is Status.VIOLATED and verdict.coverage.complete_to < largest


def beyond(coverage: Coverage) -> str:
    """Return the explored combinations of one more fault (``31 of 286 combinations of 3``), or ``""``."""
    if not coverage.combinations:
        return ""
    of_next = number(coverage.combinations_of_next)
    return f"{number(coverage.combinations)} of {of_next} combinations of {coverage.complete_to + 1}"


def bounds(verdict: Verdict) -> str:
    """Return the explored faults: ``any 2 faults, more fault sets possible, 31 of 286 combinations of 3``."""
    is_open = is_open_beside(verdict)
    # Beside a fault set, "no fault" reads as if the faults of the set had not been explored.
    explored = "" if is_open and verdict.coverage.complete_to <= 0 else _explored(verdict.coverage)
    more = "more fault sets possible" if is_open else ""
    return ", ".join(filter(None, [explored, more, beyond(verdict.coverage)]))


def fault_kinds(coverage: Coverage) -> str:
    """List the kinds of fault: ``kill, power-loss; consumer-crash (at most 1)``, without limits that cannot apply."""
    by_limit: dict[int | None, list[str]] = {}
    for kind, count in coverage.kinds:
        binds = kind not in coverage.any_number and (bool(coverage.any_number) or count <= coverage.complete_to)
        by_limit.setdefault(count if binds else None, []).append(kind)
    words = [", ".join(kinds) for limit, kinds in by_limit.items() if limit is None]
    for limit, kinds in by_limit.items():
        if limit is not None:
            words.append(f"{', '.join(kinds)} (at most {limit}{' each' if len(kinds) > 1 else ''})")
    return "; ".join(words) or "none"


def sizes(coverage: Coverage) -> str:
    """Return the sizes of the explored pipeline: ``records 2, log 3``."""
    return ", ".join(f"{name} {value}" for name, value in coverage.bounds.items())


def would_explore_more(coverage: Coverage) -> str:
    """Name the sizes that stopped some behaviour, as a sentence, or return ``""``."""
    return f"larger {listed(coverage.bounds_reached)} would explore more" if coverage.bounds_reached else ""


def stopped(coverage: Coverage) -> str:
    """Say why the exploration ended before its bounds, as a clause, or return ``""``."""
    return STOPPED.get(coverage.stopped, coverage.stopped) if coverage.stopped else ""


def why_unknown(verdict: Verdict) -> str:
    """Return why a property is undecided: a limit in a few words (``time limit``), otherwise the first note."""
    coverage = verdict.coverage
    if (decided_to := holds_up_to(verdict)) is not None:
        why = STOPPED_BRIEFLY.get(coverage.stopped or "", "any number not decided")
        return f"none with {counted(decided_to, 'fault')}; {why}"
    if coverage.stopped:
        return STOPPED_BRIEFLY.get(coverage.stopped, coverage.stopped)
    if verdict.notes:
        return verdict.notes[0]
    return f"bound reached: {listed(coverage.bounds_reached)}" if coverage.bounds_reached else NOT_EXPLORED


def stopped_at(verdict: Verdict) -> str:
    """Return ``the memory limit was reached, at 3,000 states; complete: all fault sets of at most 1 fault``, or
    ``""``.
    """
    coverage = verdict.coverage
    if coverage.stopped in (None, "answered"):
        return ""
    return f"{stopped(coverage)}, at {number(verdict.states)} states; complete: {_complete(coverage)}"


def not_sought(coverage: Coverage) -> str:
    """Return ``complete: all fault sets of at most 1 fault; no larger fault set was searched (...)``, or ``""``."""
    if coverage.stopped != "answered":
        return ""
    return f"complete: {_complete(coverage)}; no larger fault set was searched (--all-fault-sets)"


def _complete(coverage: Coverage) -> str:
    """Return the fault sets that were searched completely: ``all fault sets of at most 2 faults``."""
    if coverage.complete_to > 0:
        return f"all fault sets of at most {counted(coverage.complete_to, 'fault')}"
    return "only runs without faults" if coverage.complete_to == 0 else "nothing, not even runs without faults"


def origin(source: Origin) -> str:
    """Return the origin of a setting: ``orders.yaml:12``, ``default of Kafka 4.0``, ``rule: ...``, ``assumed``."""
    match source.kind:
        case "file":
            return f"{source.file}:{source.line}" if source.line else str(source.file)
        case "option":
            return f"option {source.detail}" if source.detail else "option"
        case "default":
            return f"default of {source.detail}" if source.detail else "default"
        case "rule":
            return f"rule: {source.detail}" if source.detail else "rule"
        case "assumption":
            return f"assumed ({source.detail})" if source.detail else "assumed"


def outcome(status: Status, cut_sets: Sequence[CutSet]) -> str:
    """Return a verdict as a predicate: ``is violated by {kill}``, ``holds``, ``is vacuous``, ``is undecided``."""
    match status:
        case Status.VIOLATED:
            return "is violated" + (f" by {listed([fault_set(c) for c in cut_sets])}" if cut_sets else "")
        case Status.HOLDS:
            return "holds"
        case Status.VACUOUS:
            return "is vacuous"
        case Status.UNKNOWN:
            return "is undecided"


def sensitivity(item: Sensitivity) -> str:
    """Return ``with consumer.processing=handed-off, no-skip is violated by {consumer-crash}``."""
    scope = " with up to one fault" if item.status is Status.HOLDS else ""
    return f"with {item.assumption}={item.value}, {item.property} {outcome(item.status, item.cut_sets)}{scope}"


def threshold(item: Threshold) -> str:
    """Return ``no-loss holds iff delivery.timeout.ms >= 10,300 (now 120,000), with all other durations ...``."""
    if item.holds_at == item.violated_at + 1:
        turns = f"holds iff {item.setting} >= {item.holds_at:,}"
    else:
        turns = f"holds with {item.setting}={item.holds_at:,}, is violated with {item.violated_at:,}, undecided between"
    because = f": {item.because}" if item.because else ""
    return f"{item.property} {turns} (now {item.now:,}), with all other durations anywhere in their bounds{because}"


def grouped(verdicts: Iterable[Verdict], words: Words) -> list[tuple[tuple[str, ...], str]]:
    """Return each text that ``words`` gives for some verdict once, with the properties of these verdicts."""
    groups: dict[str, list[str]] = {}
    for verdict in verdicts:
        if text := words(verdict):
            groups.setdefault(text, []).append(verdict.property)
    return [(tuple(properties), text) for text, properties in groups.items()]


def answer(
    verdicts: Sequence[Verdict], *, bounds_below: bool = True, called: str = "required", assumptions: int = 0
) -> str:
    """Return the result for the required properties in one sentence.

    ``bounds_below``: whether the report states the bounds below; otherwise the sentence states them. ``called``: the
    word for these properties, if they are not the properties that the deployment requires. ``assumptions``: number of
    assumptions to count in a pass, where the report does not list them.
    """
    required = [v for v in verdicts if v.required]
    by_status = {status: [v for v in required if v.status is status] for status in Status}
    if violated := by_status[Status.VIOLATED]:
        open_ones = by_status[Status.UNKNOWN]
        left = f"; {_named(open_ones)} {'is' if len(open_ones) == 1 else 'are'} undecided" if open_ones else ""
        return f"No: {_how_violated(violated, len(required), called)}{left}."
    if unknown := by_status[Status.UNKNOWN]:
        reasons = [stopped(v.coverage) or _bound_was_reached(v.coverage) for v in unknown]
        why = next(filter(None, reasons), None)
        if why is None:
            return f"Undecided: {_named(unknown)}; the notes say why."
        longer = " (--time SECONDS raises the limit)" if why == STOPPED["time"] else ""
        return f"Undecided: {why}{longer} before {_named(unknown)} could be decided{_decided_part(unknown)}."
    if vacuous := by_status[Status.VACUOUS]:
        one = len(vacuous) == 1
        holds, witnesses = ("holds", "its witness was") if one else ("hold", "their witnesses were")
        return f"No evidence: {_named(vacuous)} {holds} only because {witnesses} not reached within the bounds."
    if required:
        scopes = {unlimited(v) for v in required}
        scope = f"for {scopes.pop()}, within" if len(scopes) == 1 and "" not in scopes else "within"
        covered = "the bounds below" if bounds_below else _bounds_of_all(required)
        under = f", under {counted(assumptions, 'assumption')} that no file states" if assumptions else ""
        more = f"{under}{_only_in_time(required)}{_beside(required)}"
        return f"Yes: {_what_holds(required, called)} {scope} {covered}{more}."
    found = sum(v.status is Status.VIOLATED for v in verdicts)
    return f"Nothing is required; {found} of the {len(verdicts)} checked properties can fail."


def _decided_part(unknown: Sequence[Verdict]) -> str:
    """Return the number of faults that violate none of some undecided properties, or ``""`` where it is not known."""
    known = [decided_to for one in unknown if (decided_to := holds_up_to(one)) is not None]
    if len(known) < len(unknown):
        return ""
    what = "this property" if len(unknown) == 1 else "any of these properties"
    return f" for any number of faults; no {counted(min(known), 'fault')} violate{'s' * (min(known) == 1)} {what}"


def _bound_was_reached(coverage: Coverage) -> str:
    """Return ``a bound (log) was reached``, or ``""``."""
    return f"a bound ({listed(coverage.bounds_reached)}) was reached" if coverage.bounds_reached else ""


def brief_answer(verdicts: Sequence[Verdict]) -> str:
    """Return the result in one sentence, for a report that lists the faults of each violation below."""
    required = [verdict for verdict in verdicts if verdict.required]
    violated = [verdict for verdict in required if verdict.status is Status.VIOLATED]
    if not violated:
        return answer(verdicts)
    if len(required) == 1:
        return f"No: the required property, {violated[0].property}, can fail."
    holding = [verdict for verdict in required if verdict.status is not Status.VIOLATED]
    rest = f"; {'; '.join(_outcomes(holding))}" if 0 < len(holding) < 4 else _without_evidence(holding)
    names = f": {_named(violated)}" if len(violated) < 6 else ""
    return f"No: {_how_many(len(violated), len(required))} required properties can fail{names}{rest}."


def _without_evidence(verdicts: Sequence[Verdict]) -> str:
    """Return how many of the other required properties are undecided or hold only because nothing was tested."""
    vacuous = sum(verdict.status is Status.VACUOUS for verdict in verdicts)
    open_ones = sum(verdict.status is Status.UNKNOWN for verdict in verdicts)
    said = [f"{vacuous} without evidence"] if vacuous else []
    said += [f"{open_ones} undecided"] if open_ones else []
    return f"; of the others {' and '.join(said)}" if said else ""


_SEVERAL = {"holds": "hold", "is": "are"}
"""The plural of the verb of an outcome, by the singular."""


def _outcomes(verdicts: Sequence[Verdict]) -> Iterator[str]:
    """Yield the outcome of properties; properties with the same outcome share a sentence."""
    for names, said in grouped(verdicts, lambda verdict: outcome(verdict.status, ())):
        verb, _, rest = said.partition(" ")
        several = f"{_SEVERAL[verb]} {rest}".rstrip()
        yield f"{listed(list(names))} {several if len(names) > 1 else said}"


def not_checked(pipelines: int) -> str:
    """Return the number of pipelines that are not checked, as a sentence."""
    are = "is" if pipelines == 1 else "are"
    return f"{counted(pipelines, 'pipeline')} {are} not checked; standard error says why."


def answer_of_all(pipelines: Sequence[Sequence[Verdict]]) -> str:
    """Return the result of several pipelines in one sentence: the worst status and the number of pipelines with it."""
    required = [{verdict.status for verdict in verdicts if verdict.required} for verdicts in pipelines]
    every = counted(len(pipelines), "pipeline")
    for status, words in (
        (Status.VIOLATED, "No: a required property can fail in"),
        (Status.UNKNOWN, "Undecided: a required property in"),
        (Status.VACUOUS, "No evidence: a required property holds only because its witness was not reached, in"),
    ):
        if those := sum(status in of_one for of_one in required):
            return f"{words} {number(those)} of {every}."
    if not any(required):
        return f"Nothing is required of {every}."
    held = [verdict for verdicts in pipelines for verdict in verdicts if verdict.required]
    return f"Yes: all required properties of {every} hold within the bounds above{_beside(held)}."


def _how_violated(violated: Sequence[Verdict], required: int, called: str) -> str:
    how = [f" with {faults_needed(v.cut_sets[0])}" if v.cut_sets else "" for v in violated]
    if len(violated) == 1:
        return f"{violated[0].property} can fail{how[0]}"
    named = [v.property + faults for v, faults in zip(violated, how, strict=True)]
    return f"{_how_many(len(violated), required)} {called} properties can fail: {'; '.join(named)}"


def _how_many(some: int, every: int) -> str:
    """Return ``1 of the 2``, ``both`` or ``all 3``; ``every`` is at least 2."""
    if some < every:
        return f"{some} of the {every}"
    return "both" if every == 2 else f"all {every}"


def _what_holds(required: Sequence[Verdict], called: str) -> str:
    if len(required) == 1:
        return f"the {called} property, {required[0].property}, holds"
    every = len(required)
    return f"{_how_many(every, every)} {called} properties hold"


def _only_in_time(holding: Sequence[Verdict]) -> str:
    """Name the properties that hold only under timing assumptions, as a clause, or return ``""``."""
    timed = [verdict for verdict in holding if verdict.lemmas]
    if not timed:
        return ""
    which = "" if len(holding) == 1 else f" of {_named(timed)}" if len(timed) < len(holding) else ""
    return f"; the answer includes the timing assumptions{which}"


def _beside(holding: Sequence[Verdict]) -> str:
    """Count the known defects that could violate what holds, or say nothing."""
    defects = {defect for verdict in holding for defect in verdict.known_defects}
    if not defects:
        return ""
    them = "it" if len(holding) == 1 else "them"
    return f"; {counted(len(defects), 'known defect')} of these releases could violate {them}"


def _bounds_of_all(verdicts: Sequence[Verdict]) -> str:
    """Return ``any 2 faults (records 2, log 3)``, or the bounds that cover the fewest faults if bounds differ."""
    told = {f"{bounds(one)} ({sizes(one.coverage)})": one for one in verdicts}
    fewest = min(told, key=lambda words: _reach(told[words].coverage))
    return fewest if len(told) == 1 else f"at least {fewest}"


def _reach(coverage: Coverage) -> tuple[bool, int, int]:
    """Return a key that orders coverages by the faults that they cover."""
    return bool(coverage.any_number), coverage.complete_to, coverage.combinations


def _named(verdicts: Sequence[Verdict]) -> str:
    return listed([v.property for v in verdicts])


def size(amount: int) -> str:
    """Return a number of bytes in words: ``12 kB``, ``150 MB``, ``1.2 GB``."""
    unit, name = (1e9, "GB") if amount >= 1e9 else (1e6, "MB") if amount >= 1e6 else (1e3, "kB")
    return f"{amount / unit:.1f} {name}" if unit == 1e9 else f"{amount / unit:.0f} {name}"
