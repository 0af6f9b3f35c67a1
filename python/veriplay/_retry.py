"""When to ask again, and how long to wait before."""

from __future__ import annotations

import random
import time
from collections.abc import Callable, Mapping

__all__ = ["Patience", "RETRIED", "retry_after"]

#: Answers that another try may change: too many requests, a proxy without a server, starting or draining, out of time.
RETRIED = frozenset({429, 502, 503, 504})

#: Seconds: the first pause, and the longest.
FIRST_PAUSE = 0.05
LONGEST_PAUSE = 10.0


class Patience:
    """Pauses that double, each shortened by chance so that clients do not come back all at once; no longer than ``seconds`` without progress."""

    def __init__(
        self,
        seconds: float,
        clock: Callable[[], float] = time.monotonic,
        chance: Callable[[], float] = random.random,
    ) -> None:
        self._seconds = seconds
        self._clock = clock
        self._chance = chance
        self.progress()

    def progress(self) -> None:
        """Something was answered: begin anew."""
        self._since = self._clock()
        self._tries = 0

    @property
    def tries(self) -> int:
        """Pauses since the last progress."""
        return self._tries

    def pause(self, asked: float = 0.0) -> float | None:
        """Seconds to wait before the next try, at least ``asked``; ``None`` when patience is at its end."""
        longest = min(LONGEST_PAUSE, FIRST_PAUSE * 2.0 ** min(self._tries, 32))
        pause = max(asked, longest * (0.5 + 0.5 * self._chance()))
        if self._clock() + pause - self._since > self._seconds:
            return None
        self._tries += 1
        return pause


def retry_after(headers: Mapping[str, str]) -> float:
    """The seconds that ``Retry-After`` asks for; 0 without one, or where it is a date."""
    try:
        seconds = float(headers.get("retry-after", "0"))
    except ValueError:
        return 0.0
    return seconds if 0.0 <= seconds < 3600.0 else 0.0
