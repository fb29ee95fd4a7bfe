"""One known defect: which releases have it, what goes wrong, and what Proofka does about it."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from proofka.properties.known_defects.affected import Affected, Release

NOTHING = "-"
"""The text of an empty cell."""


class Treatment(StrEnum):
    """The treatment of a defect by Proofka."""

    MODELLED = "modelled"
    REFUSED = "refused"
    NOTED = "noted"


MEANING: dict[Treatment, str] = {
    Treatment.MODELLED: "the model of an affected release has the defect: a verdict takes it into account",
    Treatment.REFUSED: "a deployment that needs the affected feature is refused",
    Treatment.NOTED: "the model does not have the defect: each pass that the defect could falsify names it",
}


@dataclass(frozen=True)
class Defect:
    """A row of the register (docs/defects.md).

    ``id``: the tracker's number with the product's prefix (``KAFKA-7165``, ``librdkafka-4281``), or the release of the
    change log with a letter. ``product``: ``broker``, ``java``, or the name of a client library. ``breaks``: names of
    properties that the defect can violate. ``settings``: conditions on settings, all of which the defect needs.
    ``needs``: events, of which the defect needs one. ``features``: features, all of which must be in use.
    ``shown_by``: the test or example that shows a modelled defect, or the refusal. ``uncertain``: what the sources do
    not establish. ``codes``: the codes of the refusals (docs/refusals.md); none where the real client or broker
    refuses.
    """

    id: str
    product: str
    affected: Affected
    sentence: str
    breaks: tuple[str, ...]
    settings: tuple[str, ...]
    needs: tuple[str, ...]
    features: tuple[str, ...]
    treatment: Treatment
    shown_by: str
    source: str
    uncertain: str
    notes: str
    codes: tuple[str, ...] = ()

    @property
    def shown(self) -> str:
        """The codes and the test or example that show the treatment, in parentheses; empty for a noted defect."""
        shown = ", ".join((*self.codes, *(() if self.shown_by == NOTHING else (self.shown_by,))))
        return f" ({shown})" if shown else ""

    @property
    def fix(self) -> str:
        """The releases with the fix, in words."""
        if not self.affected.fixed:
            return "not fixed in any release that the register covers"
        return f"fixed in {', '.join(map(release_in_words, self.affected.fixed))}"


def release_in_words(release: Release) -> str:
    """Return the text of a release: ``3.9.1``."""
    return ".".join(map(str, release))
