"""The ways between brokers and the controller through the proxy: the messages that a replay holds or cuts."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass

from proofka.checker.cluster.bodies.controlling import alter_partition_request
from proofka.checker.cluster.frames import REQUEST, Frame


@dataclass(frozen=True)
class Messages:
    """Messages of a kind, as a gate takes them: links, side, names of requests (None: all), and a predicate or None."""

    link: str
    side: str
    apis: frozenset[str] | None
    when: Callable[[Frame], bool] | None = None


class Channels(ABC):
    """The ways between brokers and the controller, which depend on the mode and on the release."""

    knows_when_back: bool = True
    """True if a broker knows all decisions of the controller once the controller counts the broker as live again."""

    @abstractmethod
    def to_controller(self, broker: str) -> str:
        """Return the links without which a broker is cut off. ``broker``: a regular expression for its number."""

    @abstractmethod
    def decisions(self, broker: int) -> Messages:
        """Return the messages in which a broker hears what the controller has decided."""

    def proposals(self, broker: str) -> Messages:
        """Return the messages in which a leader proposes another ISR: requests to the controller."""
        return Messages(f"{broker}->controller", REQUEST, frozenset({"AlterPartition"}))

    def proposed_isr(self, frame: Frame) -> tuple[int, ...]:
        """Return the ISR that a leader proposes, sorted. Raises UnreadableBody."""
        return tuple(sorted(alter_partition_request(frame).partitions[0].new_isr))

    def withhold(self, wanted: tuple[int, ...] | None = None) -> None:
        """Keep leaders from putting any ISR but ``wanted`` (sorted) into effect, where no gate can hold a proposal."""
        return  # a gate holds proposals

    def admit(self) -> None:
        """Let leaders put every ISR into effect again."""
        return  # as above
