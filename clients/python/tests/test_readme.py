"""The example of the README: it prints what stands there."""

from __future__ import annotations

import asyncio
import re
import sys
from pathlib import Path

from .world import World

HERE = Path(__file__).parent.parent


class ReadmeTest(World):
    async def test_the_example_prints_what_it_says(self) -> None:
        readme = (HERE / "README.md").read_text(encoding="utf-8")
        found = re.search(r"```python\n(.*?)```.*?```text\n(.*?)```", readme, re.DOTALL)
        assert found is not None
        self.assertLessEqual(len(found[1].splitlines()), 30)
        host = self.work / "host.py"
        host.write_text(found[1], encoding="utf-8")
        process = await asyncio.create_subprocess_exec(
            sys.executable, "-W", "error", str(host), cwd=self.work, env={**self.env, "PYTHONPATH": str(HERE)},
            stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.PIPE,
        )  # fmt: skip
        out, complaints = await process.communicate()
        self.assertEqual((out.decode(), complaints.decode()), (found[2], ""))
