"""Acceptances of a deployment today: by comments in its files, and by entries of the project file."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import UTC, date, datetime
from pathlib import Path

from proofka.checker.project.comments import comments_of
from proofka.checker.project.errors import ProjectError
from proofka.checker.project.project import Project
from proofka.model.deployment.deployment import Deployment
from proofka.properties.accepted import Acceptance, accepting


def today() -> date:
    """Return the day by which acceptances are judged, in UTC: the same everywhere."""
    return datetime.now(UTC).date()


def with_accepted(
    deployment: Deployment, path: Path | None, project: Project | None, day: date
) -> tuple[Deployment, tuple[ProjectError, ...]]:
    """Return the deployment without the requirements that are lifted on ``day``, and errors: those of comments, and an
    error for each acceptance that has expired.
    """
    comments = comments_of(deployment, path)
    of_project = () if project is None else tuple(_of_project(project, path))
    every = (*comments.accepted, *of_project)
    expired = tuple(_expired(one) for one in every if one.until < day)
    return accepting(deployment, (one for one in every if one.until >= day)), (*comments.problems, *expired)


def _of_project(project: Project, path: Path | None) -> Iterable[Acceptance]:
    for one in project.accepted:
        if not one.patterns or (path is not None and project.means(one.patterns, path)):
            yield one


def _expired(one: Acceptance) -> ProjectError:
    return ProjectError(
        "W14",
        f"was accepted until {one.until.isoformat()} ({one.reason}); mend the pipeline and remove this, or renew it",
        file=one.file,
        line=one.line,
        key=one.name,
    )
