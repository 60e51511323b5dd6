"""How often and how soon a waybill that is gone is started again."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Restart:
    """Restart says that waybill is started again when it is gone, and how often.

    The delay doubles from first_delay to max_delay seconds. tries bounds how often in a row waybill may go without
    having answered anything, and how often one call is sent.
    """

    first_delay: float = 0.1
    max_delay: float = 5.0
    tries: int = 8

    def __post_init__(self) -> None:
        if self.tries < 1 or self.first_delay < 0 or self.max_delay < self.first_delay:
            raise ValueError(f"{self}: tries must be at least 1, and 0 <= first_delay <= max_delay")

    def delay(self, deaths: int) -> float:
        """Gives the seconds to wait after that many deaths in a row."""
        return min(self.max_delay, self.first_delay * 2.0 ** min(deaths - 1, 30))
