"""The constants of a published protocol: the numbers of replicas, log slots, records and leader epochs."""

from __future__ import annotations

from dataclasses import asdict, dataclass

from proofka.model.input.input_error import InputError


class PublishedProtocolError(InputError, ValueError):
    """The error of a published protocol that does not exist, or of constants that make no sense."""


@dataclass(frozen=True)
class Constants:
    """The only bounds of the state space.

    At most ``records`` are written. Leader epochs are 0 to ``epochs`` inclusive, so the controller decides at most
    ``epochs`` + 1 times. In the specifications: Replicas, LogSize, MaxRecords, MaxLeaderEpoch.
    """

    replicas: int
    log_size: int
    records: int
    epochs: int

    def __post_init__(self) -> None:
        for name, value in asdict(self).items():
            least = 0 if name == "epochs" else 1
            if value < least:
                raise PublishedProtocolError(f"{name} is {value}: it must be at least {least}")

    @property
    def log_slots(self) -> int:
        """The slots that a log can fill: no log holds a record twice, so never more than there are records."""
        return min(self.log_size, self.records)
