"""What waybill says unasked: events, which are complete, and notifications, which are hints."""

from __future__ import annotations

import asyncio
from collections import deque
from typing import TYPE_CHECKING, AsyncIterator, Deque, Optional, Sequence

from .errors import Disconnected
from .protocol import Event, EventsSinceParams, Notification

if TYPE_CHECKING:
    from .client import Waybill

#: How many events are asked for at once.
PAGE = 500

#: How long an iterator of events trusts that it is told of new ones; then it looks by itself.
LOOK_SECONDS = 5.0


class Stream:
    """Stream is what the iterators have in common: they wait for news, and end with the client."""

    def __init__(self) -> None:
        self._news = asyncio.Event()
        self._over = False
        self._why: Optional[Disconnected] = None

    def end(self, why: Optional[Disconnected]) -> None:
        """Ends the iteration: with an error, or quietly if the client was closed."""
        self._over, self._why = True, why
        self._news.set()

    def _stop(self) -> Exception:
        return self._why or StopAsyncIteration()


class Notifications(Stream, AsyncIterator[Notification]):
    """Notifications gives what waybill tells, as it comes.

    They are hints. To a reader that is slow, the oldest of them are lost; dropped counts those. Waybill never waits for
    the reader, and what a notification was about is in the events.
    """

    def __init__(self, most: int) -> None:
        super().__init__()
        self._told: Deque[Notification] = deque(maxlen=most)
        self.dropped = 0

    def tell(self, note: Notification) -> None:
        self.dropped += len(self._told) == self._told.maxlen
        self._told.append(note)
        self._news.set()

    async def __anext__(self) -> Notification:
        while not self._told:
            if self._over:
                raise self._stop()
            self._news.clear()
            await self._news.wait()
        return self._told.popleft()


class Events(Stream, AsyncIterator[Event]):
    """Events gives every event behind a cursor, in order, each once, also where waybill was started anew in between.

    cursor is where a later iteration goes on that has to miss nothing. It moves when an event is asked for and the page
    of those before was given whole: a program that keeps it and goes on from it after a crash may see the last page again.
    """

    def __init__(self, client: Waybill, cursor: Optional[str], types: Sequence[str]) -> None:
        super().__init__()
        self._client = client
        self._types = list(types)
        self._page: Deque[Event] = deque()
        self._next = cursor
        self.cursor = cursor

    def tell(self) -> None:
        """Says that there may be events."""
        self._news.set()

    async def __anext__(self) -> Event:
        while not self._page:
            if self._over:
                raise self._stop()
            self._news.clear()
            try:
                await self._turn()
            except Disconnected:
                if not self._over:
                    raise
        return self._page.popleft()

    async def _turn(self) -> None:
        """Reads the next page, and waits if there is none. One that is cancelled in between has moved nothing."""
        if self._next is None:
            self._next = await self._client.cursor()
        self.cursor = self._next
        params: EventsSinceParams = {"cursor": self._next, "limit": PAGE}
        if self._types:
            params["types"] = self._types
        page = await self._client.call("events_since", params)
        self._page.extend(page["events"])
        self._next = page["cursor"]
        if not self._page and not page["more"]:
            self.cursor = self._next
            await self._told_or_time()

    async def _told_or_time(self) -> None:
        look = asyncio.get_running_loop().call_later(LOOK_SECONDS, self._news.set)
        try:
            await self._news.wait()
        finally:
            look.cancel()
