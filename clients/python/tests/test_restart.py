"""The end of the process in the midst of things: nothing is lost, and nothing takes effect twice."""

from __future__ import annotations

import asyncio
import os
import signal

from waybill import Disconnected, Restart, WaybillError

from .world import World, pump, python

AT_ONCE = Restart(first_delay=0, max_delay=0)


def kill(pid: object) -> None:
    assert isinstance(pid, int)
    os.kill(pid, signal.SIGKILL)


class RestartTest(World):
    async def test_kill_in_the_middle_loses_nothing_and_repeats_nothing(self) -> None:
        async with self.client(restart=AT_ONCE) as w:
            events = w.events("0")
            calls = []
            for burst in range(4):
                calls += [w.call("queue_instruction", {"content": f"{burst}.{i}"}) for i in range(50)]
                waiting = [asyncio.ensure_future(call) for call in calls[-50:]]
                await waiting[10]
                kill(w.pid)
                await asyncio.gather(*waiting)
            listed = (await w.call("list_instructions", {"limit": 500}))["items"]
            wanted = [f"{burst}.{i}" for burst in range(4) for i in range(50)]
            self.assertEqual([one["content"] for one in listed], wanted)
            seen = [await events.__anext__() for _ in wanted]
        self.assertEqual([event["seq"] for event in seen], list(range(1, len(wanted) + 1)))

    async def test_a_change_whose_answer_was_lost_takes_effect_once(self) -> None:
        async with self.client(pump("lose", "create_task", str(self.folder / "mark")), restart=AT_ONCE) as w:
            made = await w.call("create_task", {"prompt": "x"})
            listed = (await w.call("list_tasks"))["items"]
            self.assertEqual([one["task_id"] for one in listed], [made["task"]["task_id"]])
        self.assertTrue((self.folder / "mark").exists())

    async def test_a_claim_whose_answer_was_lost_is_given_again(self) -> None:
        async with self.client(pump("lose", "claim_task", str(self.folder / "mark")), restart=AT_ONCE) as w:
            await w.call("create_task", {"prompt": "x"})
            got = (await w.call("claim_task", {"worker": "w"}))["claim"]
            assert got is not None
            mine = {"task_id": got["task"]["task_id"], "lease_token": got["lease"]["token"]}
            done = await w.request("finish_attempt", {**mine, "status": "completed", "output": "done"})
            self.assertEqual((done["applied"], done["attempt"]["attempt_number"]), (True, 1))
            self.assertEqual((await w.call("get_task", {"task_id": mine["task_id"]}))["attempts_total"], 1)
        self.assertTrue((self.folder / "mark").exists())

    async def test_a_pass_whose_answer_was_lost_uses_up_one_send(self) -> None:
        async with self.client(pump("lose", "dispatch_instructions", str(self.folder / "mark")), restart=AT_ONCE) as w:
            await w.call("queue_instruction_with_ack", {"content": "x"})
            handed = await w.call("dispatch_instructions")
            self.assertEqual([one["send"] for one in handed["instructions"]], [1])
        self.assertTrue((self.folder / "mark").exists())

    async def test_a_new_process_is_told_what_the_one_before_was_told(self) -> None:
        other = self.workspace("other")
        async with self.client(restart=AT_ONCE) as w:
            await w.call("initialize", {"workspace_folders": [{"uri": other.as_uri()}]})
            kill(w.pid)
            self.assertEqual((await w.call("get_status"))["workspace"]["root"], str(other))

    async def test_a_waiting_call_waits_on_in_the_new_process(self) -> None:
        async with self.client(restart=AT_ONCE) as w:
            claim = asyncio.ensure_future(w.call("claim_task", {"worker": "w", "wait_ms": 25_000}))
            await w.call("ping")
            kill(w.pid)
            await w.call("create_task", {"prompt": "x"})
            self.assertIsNotNone((await claim)["claim"])

    async def test_a_call_that_is_cancelled_while_there_is_no_process_is_not_sent(self) -> None:
        async with self.client(restart=Restart(first_delay=0.2, max_delay=0.2)) as w:
            async with self.logged("waybill is gone"):
                kill(w.pid)
            call = asyncio.ensure_future(w.call("create_task", {"prompt": "x"}))
            await asyncio.sleep(0)  # it waits for the next process, which takes many turns of the loop to come
            call.cancel()
            await w.call("create_task", {"prompt": "y"})  # behind the other one, had that been sent
            self.assertEqual([one["prompt"] for one in (await w.call("list_tasks"))["items"]], ["y"])

    async def test_a_call_that_kills_waybill_each_time_is_given_up_and_the_others_go_on(self) -> None:
        async with self.client(pump("die", "get_telemetry"), restart=Restart(first_delay=0, max_delay=0, tries=3)) as w:
            await w.call("ping")
            poison = asyncio.ensure_future(w.call("get_telemetry"))
            with self.assertRaisesRegex(Disconnected, "gone 3 times before it answered") as caught:
                await poison
            self.assertEqual(caught.exception.outcome, "not_applied")
            self.assertEqual(await w.call("ping"), {"pong": True})

    async def test_a_program_that_always_dies_is_given_up(self) -> None:
        starts = self.folder / "starts"
        dying = python("import sys; open(sys.argv[1], 'a').write('x'); sys.stdin.readline(); sys.exit(3)", str(starts))
        async with self.client(dying, restart=Restart(first_delay=0, max_delay=0, tries=3)) as w:
            events, notes = w.events("0"), w.notifications()
            with self.assertRaises(Disconnected):
                await asyncio.gather(w.call("ping"), w.call("ping"), w.call("ping"))
            with self.assertRaisesRegex(Disconnected, "ended with 3"):
                while True:
                    await w.call("ping")
            with self.assertRaises(Disconnected):
                await events.__anext__()
            with self.assertRaises(Disconnected):
                await notes.__anext__()
        self.assertEqual(starts.read_text(), "xxxx")

    async def test_close_does_not_wait_for_the_next_start(self) -> None:
        async with self.client(restart=Restart(first_delay=3600, max_delay=3600)) as w:
            async with self.logged("waybill is gone"):
                kill(w.pid)
            self.assertIsNone(w.pid)
            call = asyncio.ensure_future(w.call("ping"))
            await asyncio.sleep(0)
        with self.assertRaises(Disconnected):
            await call

    async def test_the_delay_doubles_up_to_its_bound(self) -> None:
        delays = [Restart(first_delay=0.5, max_delay=3).delay(deaths) for deaths in (1, 2, 3, 4, 10_000)]
        self.assertEqual(delays, [0.5, 1, 2, 3, 3])
        with self.assertRaisesRegex(ValueError, "tries"):
            Restart(tries=0)


class NoRestartTest(World):
    async def test_a_lost_answer_is_unknown_and_its_key_tells(self) -> None:
        async with self.client(pump("lose", "create_task", str(self.folder / "mark"))) as w:
            with self.assertRaises(Disconnected) as caught:
                await w.call("create_task", {"prompt": "x"})
            lost = caught.exception
            self.assertEqual((lost.code, lost.outcome, lost.retryable), ("DISCONNECTED", "unknown", True))
            with self.assertRaisesRegex(Disconnected, "waybill is gone"):
                await w.call("ping")
        async with self.client() as w:
            assert lost.idempotency_key is not None
            await w.call("create_task", {"prompt": "x", "idempotency_key": lost.idempotency_key})
            self.assertEqual(len((await w.call("list_tasks"))["items"]), 1)

    async def test_a_read_was_not_applied(self) -> None:
        async with self.client(pump("die", "list_tasks")) as w:
            with self.assertRaises(WaybillError) as caught:
                await w.call("list_tasks")
            self.assertEqual(caught.exception.outcome, "not_applied")

    async def test_a_claim_has_no_key_so_that_an_undelivered_one_costs_nothing(self) -> None:
        async with self.client(pump("lose", "claim_task", str(self.folder / "mark"))) as w:
            with self.assertRaises(Disconnected) as caught:
                await w.call("claim_task", {"worker": "w"})
            self.assertIsNone(caught.exception.idempotency_key)
