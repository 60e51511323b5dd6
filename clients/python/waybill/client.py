"""The client: one waybill process for as long as it lives, or, with restart, one after the other."""

from __future__ import annotations

import asyncio
import json
import logging
import os
import re
import uuid
from types import TracebackType
from typing import Any, Callable, Dict, Mapping, Optional, Sequence, Type, Union
from weakref import WeakSet

from .calls import Call, Calls, encode
from .child import Child
from .errors import Disconnected
from .protocol import KEYED, Methods, Notification
from .restart import Restart
from .streams import Events, Notifications

log = logging.getLogger("waybill")

#: How long the longest line may be that waybill says. A page with a few contents of the allowed size, escaped, fits.
MAX_LINE_BYTES = 32 << 20

#: Methods that hand something out. With a key, waybill keeps what they gave for the repetition, and the sends and the
#: claim count although nobody may ever ask for it again; so they get one only where the client repeats them itself.
HANDING_OUT = frozenset({"claim_task", "dispatch_instructions"})

#: The id of the request with which a new process is told what the one before was told. Calls count from 1.
GREETING = 0


class Waybill(Methods):
    """Waybill runs `waybill serve` as a child and calls its methods.

    command is the program and its arguments; without it, that is WAYBILL_BIN of the environment, else `waybill` on the
    PATH. cwd is the workspace. With restart, waybill is started again when it is gone, and the calls that wait for an
    answer are sent again; changes among them take effect once. on_notification is called with each notification. An
    answer that is longer than max_line_bytes fails its call. grace is how many seconds a waybill that was asked to leave
    has for that, before it is told so by a signal.

    All of it belongs to one event loop. Calls may be made from many tasks; changes take effect in the order in which
    they were made.
    """

    def __init__(
        self,
        command: Optional[Sequence[str]] = None,
        *,
        cwd: Union[str, os.PathLike[str], None] = None,
        env: Optional[Mapping[str, str]] = None,
        restart: Optional[Restart] = None,
        on_notification: Optional[Callable[[Notification], None]] = None,
        max_line_bytes: int = MAX_LINE_BYTES,
        grace: float = 5.0,
    ) -> None:
        self._command = list(command or [os.environ.get("WAYBILL_BIN") or "waybill"])
        self._cwd = None if cwd is None else os.fspath(cwd)
        self._env = env
        self._restart = restart
        self._on_notification = on_notification
        self._max_line = max_line_bytes
        self._grace = grace
        self._calls = Calls()
        self._child: Optional[Child] = None
        self._keeper: Optional[asyncio.Task[None]] = None
        self._ended: Optional[Disconnected] = None
        self._closing = False
        self._deaths = 0
        self._greeting: Optional[Mapping[str, object]] = None
        self._tail = ""
        self._hearers: WeakSet[Union[Notifications, Events]] = WeakSet()

    async def __aenter__(self) -> Waybill:
        await self.start()
        return self

    async def __aexit__(
        self, kind: Optional[Type[BaseException]], error: Optional[BaseException], trace: Optional[TracebackType]
    ) -> None:
        await self.close()

    async def start(self) -> None:
        """Starts waybill. A program that cannot be started is an error at once, also with restart."""
        if self._keeper is not None:
            raise RuntimeError("this client was started before; make another one")
        self._connect(await self._spawn())
        self._keeper = asyncio.ensure_future(self._keep())

    async def close(self) -> None:
        """Ends waybill, once it has carried out and answered what it was sent; by force if it takes too long."""
        self._closing = True
        if self._keeper is None:
            return
        try:
            if self._child is None:
                self._keeper.cancel()
            else:
                await self._child.leave()
            await asyncio.wait([self._keeper], timeout=self._grace)
        finally:
            self._keeper.cancel()
            await asyncio.gather(self._keeper, return_exceptions=True)

    @property
    def pid(self) -> Optional[int]:
        """The id of the process that runs, None where there is none."""
        return self._child.pid if self._child else None

    @property
    def stderr_tail(self) -> str:
        """The last 64 KiB of what waybill has written to its standard error."""
        return self._child.stderr_tail if self._child else self._tail

    async def request(self, method: str, params: Optional[Mapping[str, object]] = None) -> Any:
        """Calls a method by any name, without types.

        A change that has no idempotency_key gets one. A call that is cancelled is withdrawn; it may have taken effect.
        """
        if self._ended is not None or self._keeper is None:
            raise self._ended or Disconnected("waybill was not started: use `async with`", method=method)
        call = self._calls.add(method, self._with_key(method, params or {}))
        try:
            if self._child is not None:
                call.sends = 1
                self._child.write(call.line)
                await self._child.drain()
            result = await call.answer
        except asyncio.CancelledError:
            self._withdraw(call)
            raise
        if method == "initialize":
            self._greeting = params or {}
        return result

    async def cursor(self) -> str:
        """Gives the cursor of now, for events(): what happens from here on is behind it."""
        return str((await self.request("initialize", self._greeting))["cursor"])

    def events(self, cursor: Optional[str] = None, types: Sequence[str] = ()) -> Events:
        """Iterates over the events behind a cursor: "0" is the beginning, None is when the iteration begins."""
        events = Events(self, cursor, types)
        self._hear(events)
        return events

    def notifications(self, most: int = 1024) -> Notifications:
        """Iterates over the notifications from here on. Of those that were not read yet, the newest are kept."""
        notifications = Notifications(most)
        self._hear(notifications)
        return notifications

    def _hear(self, hearer: Union[Notifications, Events]) -> None:
        self._hearers.add(hearer)
        if self._ended is not None:
            hearer.end(None if self._closing else self._ended)

    def _with_key(self, method: str, params: Mapping[str, object]) -> Mapping[str, object]:
        if method not in KEYED or "idempotency_key" in params:
            return params
        if method in HANDING_OUT and self._restart is None:
            return params
        return {**params, "idempotency_key": f"py-{uuid.uuid4()}"}

    def _withdraw(self, call: Call) -> None:
        """Tells waybill that nobody waits for the answer of a call any more."""
        if self._calls.drop(call) and self._child is not None:
            self._child.write(encode("$/cancelRequest", {"id": call.id}))

    async def _spawn(self) -> Child:
        return await Child.start(
            self._command, cwd=self._cwd, env=self._env, max_line=self._max_line, grace=self._grace
        )

    def _connect(self, child: Child) -> None:
        """Sends to a new process what it has to know, and what was not answered yet, in order."""
        self._child = child
        if self._greeting is not None:
            child.write(encode("initialize", self._greeting, GREETING))
        tries = self._restart.tries if self._restart else 1
        self._calls.send(child.write, tries)

    async def _keep(self) -> None:
        """Sees to it that waybill runs. It ends when waybill is gone for good."""
        why = "the client does not listen any more"
        try:
            while self._child is not None:
                why = await self._run(self._child)
                while self._child is None and not self._closing and self._may_restart():
                    why = await self._start_again() or why
        finally:
            self._end(why)

    async def _run(self, child: Child) -> str:
        """Listens to a process until it is gone, and says how it went."""
        try:
            code = await child.run(self._received, self._too_long)
        finally:
            self._child, self._tail = None, child.stderr_tail
        if self._closing:
            return "the client was closed"
        said = self._tail.strip()[-500:]
        return f"waybill is gone: it ended with {code}" + (f" and said last: {said}" if said else "")

    def _may_restart(self) -> bool:
        self._deaths += 1
        return self._restart is not None and self._deaths <= self._restart.tries

    async def _start_again(self) -> Optional[str]:
        assert self._restart is not None
        delay = self._restart.delay(self._deaths)
        log.warning("waybill is gone; it is started again in %.1f s", delay)
        await asyncio.sleep(delay)
        try:
            self._connect(await self._spawn())
        except Disconnected as error:
            return error.message
        self._may_have_happened()
        return None

    def _end(self, why: str) -> None:
        self._ended = Disconnected(why)
        self._calls.lose(why)
        for hearer in self._hearers:
            hearer.end(None if self._closing else self._ended)

    def _received(self, line: bytes) -> None:
        """Takes a line. One that is no message costs nothing but a line in the log."""
        if not line.strip():
            return
        try:
            message = json.loads(line)
        except (ValueError, RecursionError):
            message = None
        if not isinstance(message, dict):
            log.warning("waybill said something that is no message: %r", line[:200])
        elif "method" in message:
            self._told({"method": message["method"], "params": message.get("params")})
        else:
            self._answered(message)

    def _answered(self, message: Dict[str, Any]) -> None:
        call = self._calls.take(message.get("id"))
        if call is not None:
            self._deaths = 0
            call.settle(message)
            if call.method in KEYED:
                self._may_have_happened()
        elif "error" in message and message.get("id") in (None, GREETING):
            log.warning("waybill refused a message that no call waits for: %r", message["error"])

    def _may_have_happened(self) -> None:
        """Lets the iterators of events look. An answer to a read is no reason: they read themselves."""
        for hearer in self._hearers:
            if isinstance(hearer, Events):
                hearer.tell()

    def _told(self, note: Any) -> None:
        self._may_have_happened()
        for hearer in self._hearers:
            if isinstance(hearer, Notifications):
                hearer.tell(note)
        if self._on_notification is not None:
            try:
                self._on_notification(note)
            except Exception:
                log.exception("on_notification failed at %s", note["method"])

    def _too_long(self, head: bytes) -> None:
        """Takes the beginning of a line that is too long. The answer says which call it is for in its first bytes."""
        log.warning("waybill said a line of more than %d bytes; it was passed over", self._max_line)
        named = re.match(rb'\{"jsonrpc":"2\.0","id":(\d+),', head)
        call = self._calls.take(int(named[1])) if named else None
        if call is not None:
            call.overrun(self._max_line)
