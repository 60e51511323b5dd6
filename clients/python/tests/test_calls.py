"""Calls, their answers and their errors, with the real program."""

from __future__ import annotations

import asyncio
import os
from typing import Any, Dict

from waybill import Disconnected, WaybillError

from .world import World, pump, python

#: A program that says one thing and does not want to leave.
STUBBORN = python(
    "import signal, sys, time\n"
    "signal.signal(signal.SIGTERM, signal.SIG_IGN)\n"
    'print(\'{"method":"log","params":{}}\', flush=True)\n'
    "while True: time.sleep(1000)"
)

#: A program that ends with 3, and leaves somebody behind who says much to standard error when it is gone.
SURVIVED = python(
    "import os, sys\n"
    "r, w = os.pipe()\n"
    "if os.fork() == 0:\n"
    "    os.close(1), os.close(w), os.read(r, 1)\n"
    "    sys.stderr.write('x' * 1_000_000 + 'the end\\n')\n"
    "    os._exit(0)\n"
    "os._exit(3)"
)


class CallsTest(World):
    async def test_a_call_needs_no_handshake(self) -> None:
        async with self.client() as w:
            self.assertEqual(await w.call("ping"), {"pong": True})
            made = await w.call("create_task", {"prompt": "Wind it up."})
            self.assertEqual(made["task"]["status"], "QUEUED")
            self.assertEqual((await w.call("get_status"))["workspace"]["root"], str(self.work))

    async def test_changes_take_effect_in_the_order_of_the_calls(self) -> None:
        async with self.client() as w:
            done = await asyncio.gather(*(w.call("queue", {"content": f"c{i}"}) for i in range(200)))
        self.assertEqual([one["instruction"]["content"] for one in done], [f"c{i}" for i in range(200)])
        self.assertEqual([one["seq"] for one in done], sorted(one["seq"] for one in done))

    async def test_an_error_says_what_and_whether_it_took_effect(self) -> None:
        async with self.client() as w:
            with self.assertRaises(WaybillError) as caught:
                await w.call("reply", {"task_id": "nobody", "reply": "yes"})
            error = caught.exception
            self.assertEqual((error.code, error.number, error.method), ("TASK_NOT_FOUND", 4040, "reply"))
            self.assertEqual((error.outcome, error.retryable), ("not_applied", False))
            self.assertRegex(error.idempotency_key or "", "^py-")
            self.assertEqual(
                str(error), 'reply: no task has the id "nobody" [TASK_NOT_FOUND, not_applied]'
            )

    async def test_an_error_has_its_details_and_a_hint(self) -> None:
        async with self.client() as w:
            with self.assertRaises(WaybillError) as caught:
                await w.request("create_task", {"promt": "x"})
            self.assertEqual(caught.exception.code, "UNKNOWN_FIELD")
            self.assertIn("promt", str(caught.exception.details))

    async def test_the_same_key_takes_effect_once(self) -> None:
        async with self.client() as w:
            first = await w.call("create_task", {"prompt": "x", "idempotency_key": "mine"})
            again = await w.call("create_task", {"prompt": "x", "idempotency_key": "mine"})
            self.assertEqual(first["task"]["task_id"], again["task"]["task_id"])
            self.assertEqual(len((await w.call("list_tasks"))["items"]), 1)

    async def test_equal_calls_are_two_calls(self) -> None:
        async with self.client() as w:
            await asyncio.gather(*(w.call("create_task", {"prompt": "x"}) for _ in range(2)))
            self.assertEqual(len((await w.call("list_tasks"))["items"]), 2)

    async def test_what_waybill_could_not_read_is_not_sent(self) -> None:
        ring: Dict[str, Any] = {}
        ring["ring"] = ring
        async with self.client() as w:
            for code, bad in (
                ("INVALID_PARAMS", float("nan")),
                ("INVALID_PARAMS", b"bytes"),
                ("INVALID_PARAMS", ring),
                ("INVALID_UTF8", "\ud800"),
                ("MESSAGE_TOO_LARGE", "x" * (8 << 20)),
            ):
                with self.assertRaises(WaybillError) as caught:
                    await w.call("report_event", {"type": "t", "data": {"bad": bad}})
                self.assertEqual((caught.exception.code, caught.exception.outcome), (code, "not_applied"))
            self.assertEqual(await w.call("ping"), {"pong": True})

    async def test_answers_may_be_long(self) -> None:
        content = "\x01" * (1 << 20)  # the largest content, which is six times as long on the wire, and comes twice
        async with self.client() as w:
            await w.call("queue_instruction", {"content": content})
            handed = await w.call("dispatch_instructions")
            self.assertEqual([one["text"] for one in handed["instructions"]], [content])

    async def test_an_answer_that_is_too_long_fails_its_call_alone(self) -> None:
        async with self.client(max_line_bytes=4096) as w:
            with self.assertLogs("waybill", "WARNING"), self.assertRaises(WaybillError) as caught:
                await w.call("queue_instruction", {"content": "x" * 500_000})
            error = caught.exception
            self.assertEqual((error.code, error.outcome), ("MESSAGE_TOO_LARGE", "unknown"))
            with self.assertLogs("waybill", "WARNING"), self.assertRaises(WaybillError) as caught:
                await w.call("list_instructions")
            self.assertEqual((caught.exception.outcome), "not_applied")
            self.assertEqual(await w.call("ping"), {"pong": True})

    async def test_a_waiting_claim_that_is_cancelled_takes_no_task(self) -> None:
        async with self.client() as w:
            claim = asyncio.ensure_future(w.call("claim_task", {"worker": "first", "wait_ms": 25_000}))
            await w.call("ping")  # so the claim was sent
            claim.cancel()
            with self.assertRaises(asyncio.CancelledError):
                await claim
            await w.call("create_task", {"prompt": "x"})
            got = (await w.call("claim_task", {"worker": "second"}))["claim"]
            assert got is not None
            self.assertEqual((got["attempt"]["attempt_number"], got["attempt"].get("worker")), (1, "second"))

    async def test_a_call_that_is_cancelled_leaves_the_others_alone(self) -> None:
        async with self.client() as w:
            claims = [
                asyncio.ensure_future(w.call("claim_task", {"worker": f"w{i}", "wait_ms": 25_000})) for i in range(3)
            ]
            await w.call("ping")
            claims[1].cancel()
            await asyncio.gather(*(w.call("create_task", {"prompt": "x"}) for _ in range(2)))
            first, cancelled, last = await asyncio.gather(*claims, return_exceptions=True)
            self.assertIsInstance(cancelled, asyncio.CancelledError)
            for got in (first, last):
                assert not isinstance(got, BaseException)
                self.assertIsNotNone(got["claim"])

    async def test_garbage_among_the_answers_costs_nothing(self) -> None:
        async with self.client(pump("garbage")) as w:
            with self.assertLogs("waybill", "WARNING") as logs:
                self.assertEqual(await w.call("ping"), {"pong": True})
                made = await asyncio.gather(*(w.call("create_task", {"prompt": f"p{i}"}) for i in range(20)))
            self.assertEqual([one["task"]["prompt"] for one in made], [f"p{i}" for i in range(20)])
            self.assertIn("npm warn deprecated", logs.output[0])


class LifeTest(World):
    async def test_close_waits_for_the_answers_and_leaves_no_process(self) -> None:
        w = self.client()
        await w.start()
        calls = [asyncio.ensure_future(w.call("create_task", {"prompt": f"p{i}"})) for i in range(50)]
        await asyncio.sleep(0)  # each of them writes its line now
        pid = w.pid
        assert pid is not None
        await w.close()
        self.assertEqual([(await call)["task"]["prompt"] for call in calls], [f"p{i}" for i in range(50)])
        self.assertIsNone(w.pid)
        with self.assertRaises(ProcessLookupError):
            os.kill(pid, 0)

    async def test_close_ends_what_does_not_want_to_leave(self) -> None:
        async with self.client(STUBBORN, grace=0.1) as w:
            async for _ in w.notifications():
                break  # it ignores the signal by now
            pid = w.pid
            call = asyncio.ensure_future(w.call("ping"))
        assert pid is not None
        with self.assertRaises(ProcessLookupError):
            os.kill(pid, 0)
        with self.assertRaises(Disconnected):
            await call

    async def test_close_that_is_cancelled_ends_it_by_force(self) -> None:
        w = self.client(STUBBORN)
        await w.start()
        async for _ in w.notifications():
            break
        pid = w.pid
        closing = asyncio.ensure_future(w.close())
        await asyncio.sleep(0)
        closing.cancel()
        with self.assertRaises(asyncio.CancelledError):
            await closing
        assert pid is not None
        with self.assertRaises(ProcessLookupError):
            os.kill(pid, 0)

    async def test_a_client_lives_once(self) -> None:
        w = self.client()
        with self.assertRaisesRegex(Disconnected, "async with"):
            await w.call("ping")
        async with w:
            with self.assertRaisesRegex(RuntimeError, "another"):
                await w.start()
        await w.close()
        with self.assertRaisesRegex(Disconnected, "closed"):
            await w.call("ping")
        await self.client().close()

    async def test_a_program_that_cannot_be_started_is_named(self) -> None:
        with self.assertRaises(Disconnected) as caught:
            await self.client(["./no such waybill"]).start()
        self.assertRegex(str(caught.exception), r"no such waybill.*WAYBILL_BIN")

    async def test_what_a_dying_program_said_is_told(self) -> None:
        async with self.client(SURVIVED) as w:
            with self.assertRaisesRegex(Disconnected, "ended with 3 and said last: x+the end"):
                await w.call("ping")
            self.assertEqual(len(w.stderr_tail), 64 * 1024)
