"""Runs the real program, passes on what is said in both directions, and does one bad thing.

    pump.py garbage            says things that are no messages before each line
    pump.py lose METHOD MARK   loses the answer to METHOD and kills waybill; once, which the file MARK tells
    pump.py die METHOD         kills waybill whenever METHOD is called
    pump.py mute               passes on no notifications
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
from pathlib import Path
from typing import Set

GARBAGE = (b"npm warn deprecated\n", b"\xff\xfe\n", b"null\n", b"[1,2]\n", b'{"id":{}}\n', b'{"id":4711,"result":1}\n')


class Pump:
    """Pump stands between the client and waybill."""

    def __init__(self, misdeed: str, method: str = "", mark: str = "") -> None:
        self.misdeed, self.method, self.mark = misdeed, method, mark
        self.asked: Set[object] = set()
        self.waybill = subprocess.Popen([os.environ["WAYBILL_BIN"]], stdin=subprocess.PIPE, stdout=subprocess.PIPE)

    def requests(self) -> None:
        """Passes on what the client says."""
        assert self.waybill.stdin
        for line in sys.stdin.buffer:
            message = json.loads(line)
            if message["method"] == self.method:
                self.asked.add(message["id"])
                if self.misdeed == "die":
                    self.end()
            self.waybill.stdin.write(line)
            self.waybill.stdin.flush()
        self.waybill.stdin.close()

    def answers(self) -> None:
        """Passes on what waybill says."""
        assert self.waybill.stdout
        for line in self.waybill.stdout:
            if self.misdeed == "garbage":
                self.say(b"".join(GARBAGE) + b"[" * 5000 + b"\n")
            if self.misdeed == "lose" and json.loads(line).get("id") in self.asked and not Path(self.mark).exists():
                Path(self.mark).touch()
                self.end()
            if self.misdeed != "mute" or "id" in json.loads(line):
                self.say(line)

    def say(self, line: bytes) -> None:
        sys.stdout.buffer.write(line)
        sys.stdout.buffer.flush()

    def end(self) -> None:
        """Ends waybill and this program at once, as a machine does that has no memory left."""
        self.waybill.kill()
        self.waybill.wait()
        os._exit(137)


if __name__ == "__main__":
    the = Pump(*sys.argv[1:])
    threading.Thread(target=the.requests, daemon=True).start()
    the.answers()
    sys.exit(the.waybill.wait())
