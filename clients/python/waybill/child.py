"""One run of the program: its pipes, and its end. This module knows nothing of what the lines mean."""

from __future__ import annotations

import asyncio
import asyncio.subprocess
import signal
from typing import Callable, Mapping, Optional, Sequence

from .errors import Disconnected

#: How much of what the program writes to its standard error is kept: the last of it.
STDERR_BYTES = 64 * 1024

#: How long the system may take to end a program by force.
KILLED_SECONDS = 30.0


class Child:
    """Child is a running waybill. Whoever has started one lets run() come to its end."""

    def __init__(self, process: asyncio.subprocess.Process, grace: float) -> None:
        assert process.stdin and process.stdout and process.stderr
        self._process = process
        self._stdin = process.stdin
        self._stdout = process.stdout
        self._stderr = process.stderr
        self._grace = grace
        self._draining = asyncio.Lock()
        self._tail = bytearray()
        self._leaving: Optional[asyncio.Future[int]] = None

    @classmethod
    async def start(
        cls,
        command: Sequence[str],
        *,
        cwd: Optional[str],
        env: Optional[Mapping[str, str]],
        max_line: int,
        grace: float,
    ) -> Child:
        """Starts the program, without a shell."""
        try:
            process = await asyncio.create_subprocess_exec(
                *command,
                stdin=asyncio.subprocess.PIPE,
                stdout=asyncio.subprocess.PIPE,
                stderr=asyncio.subprocess.PIPE,
                cwd=cwd,
                env=env,
                limit=max_line,
            )
        except (OSError, ValueError) as error:
            raise Disconnected(
                f"cannot start {command[0]!r} in {cwd or 'the current directory'}: {error}; "
                "give its path as the command, or set WAYBILL_BIN"
            ) from error
        return cls(process, grace)

    @property
    def pid(self) -> int:
        return self._process.pid

    @property
    def stderr_tail(self) -> str:
        """The end of what the program has written to its standard error."""
        return self._tail.decode("utf-8", "replace")

    def write(self, line: bytes) -> None:
        """Puts a line into the pipe, whole and behind all others. To a program that is gone it does nothing."""
        if not self._stdin.is_closing():
            self._stdin.write(line)

    async def drain(self) -> None:
        """Waits until the pipe takes more. That the program is gone is for run() to find out."""
        async with self._draining:
            try:
                await self._stdin.drain()
            except ConnectionError:
                pass

    async def run(self, line: Callable[[bytes], None], too_long: Callable[[bytes], None]) -> int:
        """Hands over every line until the program says no more, and gives its exit code once it has left.

        Of a line that is longer than max_line, only the beginning is handed over, to too_long.
        """
        keeping = asyncio.ensure_future(self._keep_tail())
        try:
            await self._read(line, too_long)
            return await self.leave()
        finally:
            await self._bury(keeping)

    async def _bury(self, keeping: asyncio.Future[None]) -> None:
        """Sees to it that the program is gone, and that no pipe of it is left open or unread."""
        self.kill()
        self._stdin.close()
        await self._gone_within(KILLED_SECONDS)
        closing = asyncio.ensure_future(self._stdin.wait_closed())
        await asyncio.wait([keeping, closing], timeout=self._grace)
        keeping.cancel()
        closing.cancel()
        await asyncio.gather(keeping, closing, self.leave(), return_exceptions=True)

    async def leave(self) -> int:
        """Ends the program: by the end of its input, else by a signal, else by force. Gives its exit code.

        What it still says has to be read meanwhile. Many may ask for it, and may stop waiting for it.
        """
        if self._leaving is None:
            self._leaving = asyncio.ensure_future(self._leave())
        return await asyncio.shield(self._leaving)

    async def _leave(self) -> int:
        self._stdin.close()
        for less_kindly in (self._process.terminate, self._process.kill):
            if await self._gone_within(self._grace):
                break
            _if_alive(less_kindly)
        await self._gone_within(KILLED_SECONDS)
        code = self._process.returncode
        return -signal.SIGTERM if code is None else code

    def kill(self) -> None:
        """Ends the program at once."""
        if self._process.returncode is None:
            _if_alive(self._process.kill)

    async def _gone_within(self, seconds: float) -> bool:
        try:
            await asyncio.wait_for(self._process.wait(), seconds)
        except asyncio.TimeoutError:
            return False
        return True

    async def _read(self, line: Callable[[bytes], None], too_long: Callable[[bytes], None]) -> None:
        while True:
            try:
                line(await self._stdout.readuntil(b"\n"))
            except asyncio.IncompleteReadError as end:
                if end.partial:
                    line(end.partial)
                return
            except asyncio.LimitOverrunError as over:
                too_long(await self._pass_over(over))

    async def _pass_over(self, over: asyncio.LimitOverrunError) -> bytes:
        """Reads to the end of a line that is too long, without keeping it, and gives its beginning."""
        head = (await self._stdout.readexactly(over.consumed))[:256]
        while True:
            try:
                await self._stdout.readuntil(b"\n")
                return head
            except asyncio.LimitOverrunError as more:
                await self._stdout.readexactly(more.consumed)
            except asyncio.IncompleteReadError:
                return head

    async def _keep_tail(self) -> None:
        while True:
            said = await self._stderr.read(8192)
            if not said:
                return
            self._tail += said
            del self._tail[:-STDERR_BYTES]


def _if_alive(end: Callable[[], None]) -> None:
    try:
        end()
    except (ProcessLookupError, PermissionError):  # gone in this moment; Windows says it the other way
        pass
