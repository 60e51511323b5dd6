"""What the tests share: a workspace, and clients of the real program in it."""

from __future__ import annotations

import asyncio
import contextlib
import faulthandler
import logging
import os
import sys
import tempfile
import unittest
from pathlib import Path
from typing import Any, AsyncIterator, Dict, List, Sequence

from waybill import Waybill

#: Bounds every test. None passes or fails by how fast it is.
PATIENCE = 240

BINARY = os.environ.get("WAYBILL_BIN") or "waybill"


def python(script: str, *args: str) -> List[str]:
    """Gives the command for a program in Python."""
    return [sys.executable, "-c", script, *args]


def pump(misdeed: str, *args: str) -> List[str]:
    """Gives the command for the real program behind a pump that does something bad."""
    return [sys.executable, str(Path(__file__).with_name("pump.py")), misdeed, *args]


class World(unittest.IsolatedAsyncioTestCase):
    """World is a workspace with a plan, and a place for state."""

    def setUp(self) -> None:
        faulthandler.dump_traceback_later(PATIENCE, exit=True)
        self.addCleanup(faulthandler.cancel_dump_traceback_later)
        silent = logging.NullHandler()
        logging.getLogger("waybill").addHandler(silent)
        self.addCleanup(logging.getLogger("waybill").removeHandler, silent)
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name).resolve()
        self.work = self.workspace("work")
        elsewhere = ("CLAUDE_PROJECT_DIR", "WAYBILL_WORKSPACE")
        self.env = {name: value for name, value in os.environ.items() if name not in elsewhere}
        self.env.update(XDG_STATE_HOME=str(self.folder / "state"), WAYBILL_BIN=BINARY)

    def workspace(self, name: str) -> Path:
        """Makes a workspace."""
        work = self.folder / name
        work.mkdir()
        (work / "tasks.md").write_text("- [ ] 1. Cut the face\n", encoding="utf-8")
        return work

    def client(self, command: Sequence[str] = (BINARY,), **options: Any) -> Waybill:
        """Gives a client that was not started yet. A busy machine is no reason to end waybill by force."""
        usual: Dict[str, Any] = {"cwd": self.work, "env": self.env, "grace": 60}
        return Waybill(command, **{**usual, **options})

    @contextlib.asynccontextmanager
    async def logged(self, words: str) -> AsyncIterator[None]:
        """Waits at the end of the block until the client has logged these words."""
        said = asyncio.Event()

        class Ear(logging.Handler):
            def emit(self, record: logging.LogRecord) -> None:
                if words in record.getMessage():
                    said.set()

        ear = Ear()
        logging.getLogger("waybill").addHandler(ear)
        try:
            yield
            await said.wait()
        finally:
            logging.getLogger("waybill").removeHandler(ear)
