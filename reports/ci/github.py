"""Annotations of GitHub Actions: workflow commands in standard output, each at the line of the blamed setting.

GitHub shows ten errors and ten notices of a step; SARIF has no such limit.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from proofka.model.deployment.setting import Origin
from proofka.properties.news import Compared
from proofka.properties.verdict import Status, Verdict
from proofka.reports import changed, wording
from proofka.reports.blame import blame
from proofka.reports.formats import Answer


def workflow_commands(answers: Sequence[Answer], compared: Compared | None) -> Iterator[str]:
    """Yield a command for each violation; with a comparison, for news only."""
    for answer in answers:
        news = {one.verdict.property: one for one in answer.news}
        for verdict in answer.result.verdicts:
            one = news.get(verdict.property)
            if compared is not None and one is not None:
                if one.is_news:
                    yield _command(answer, verdict, changed.sentence(one, compared))
            elif compared is None and (verdict.status is Status.VIOLATED or _is_open(verdict)):
                said = wording.outcome(verdict.status, verdict.cut_sets)
                failed = f": {verdict.traces[0].failure}" if verdict.traces else ""
                yield _command(answer, verdict, f"{verdict.property} {said}{failed}.")


def _is_open(verdict: Verdict) -> bool:
    return verdict.required and verdict.status is not Status.HOLDS


def _command(answer: Answer, verdict: Verdict, said: str) -> str:
    found = blame(answer.deployment, answer.result, verdict)
    level = "error" if verdict.required else "notice"
    place = "".join(f",{key}={_property(value)}" for key, value in _place(found.place))
    title = _property(f"{answer.deployment.name}: {verdict.property}")
    return f"::{level} title={title}{place}::{_data(f'{said} {found.sentence}'.strip())}"


def _place(place: Origin | None) -> Iterator[tuple[str, str]]:
    if place is not None and place.file is not None:
        yield "file", place.file
        if place.line is not None:
            yield "line", str(max(1, place.line))


def _data(text: str) -> str:
    """Return a message as the command takes it: on one line, so that no input begins another command."""
    return wording.plain(text).replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    return _data(text).replace(":", "%3A").replace(",", "%2C")
