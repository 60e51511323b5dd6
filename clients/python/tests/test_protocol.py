"""The generated types against what the real program says of itself."""

from __future__ import annotations

import inspect
import re
import typing

from waybill import protocol

from .world import World


class ProtocolTest(World):
    async def test_every_type_can_be_read_at_run_time(self) -> None:
        named = [value for value in vars(protocol).values() if hasattr(value, "__total__")]
        self.assertGreater(len(named), 100)
        for kind in named:
            self.assertIsInstance(typing.get_type_hints(kind), dict, kind.__name__)

    async def test_members_are_required_or_optional_as_declared(self) -> None:
        self.assertIn("prompt", protocol.CreateTaskParams.__required_keys__)
        self.assertIn("models", protocol.CreateTaskParams.__optional_keys__)
        self.assertIn("class", protocol.TaskError.__optional_keys__)
        self.assertIn("message", protocol.TaskError.__required_keys__)

    async def test_every_method_is_known_and_takes_a_key_where_it_changes_something(self) -> None:
        async with self.client() as w:
            document = await w.call("rpc.discover")
        methods = {m["name"]: [p["name"] for p in m["params"]] for m in document["methods"] if "result" in m}
        keyed = {name for name, params in methods.items() if "idempotency_key" in params}
        self.assertEqual(keyed, protocol.KEYED & methods.keys())
        source = inspect.getsource(protocol.Methods)
        overloads = set(re.findall(r'method: Literal\["([^"]+)"', source))
        self.assertEqual(overloads, methods.keys())
