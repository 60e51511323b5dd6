"""Events, which are complete, and notifications, which are hints."""

from __future__ import annotations

import asyncio
from typing import List
from unittest import mock

from waybill import Restart, WaybillError
from waybill.protocol import Notification

from .world import World, pump


class NotificationsTest(World):
    async def test_they_come_by_iterator_and_by_callback(self) -> None:
        called: List[Notification] = []
        async with self.client(on_notification=called.append) as w:
            notes = w.notifications()
            made = await w.call("create_task", {"prompt": "x"})
            async for note in notes:
                if note["method"] == "task/updated":
                    self.assertEqual(note["params"]["task_id"], made["task"]["task_id"])
                    self.assertIn(note["method"], [one["method"] for one in called])
                    break

    async def test_a_callback_that_fails_costs_nothing(self) -> None:
        def fail(note: Notification) -> None:
            raise KeyError(note["method"])

        async with self.client(on_notification=fail) as w:
            notes = w.notifications()
            with self.assertLogs("waybill", "ERROR"):
                await w.call("create_task", {"prompt": "x"})
                await notes.__anext__()
            self.assertEqual(await w.call("ping"), {"pong": True})

    async def test_a_slow_reader_loses_the_oldest_and_holds_nobody_up(self) -> None:
        heard: List[Notification] = []
        enough = asyncio.Event()

        def count(note: Notification) -> None:
            heard.append(note)
            if len(heard) >= 8:
                enough.set()

        async with self.client(on_notification=count) as w:
            slow, events = w.notifications(most=4), w.events("0")
            await asyncio.gather(*(w.call("queue_instruction", {"content": f"c{i}"}) for i in range(100)))
            await enough.wait()
            self.assertEqual(slow.dropped, len(heard) - 4)
            self.assertEqual([await slow.__anext__() for _ in range(4)], heard[-4:])
            seen = [await events.__anext__() for _ in range(100)]
            self.assertEqual([event["seq"] for event in seen], list(range(1, 101)))

    async def test_they_end_with_the_client(self) -> None:
        async with self.client() as w:
            notes = w.notifications()
            waiting = asyncio.ensure_future(notes.__anext__())
            await w.call("ping")
        with self.assertRaises(StopAsyncIteration):
            await waiting
        self.assertEqual([note async for note in w.notifications()], [])


class EventsTest(World):
    def setUp(self) -> None:
        super().setUp()
        never = mock.patch("waybill.streams.LOOK_SECONDS", 3600)  # so it is by being told that they come
        never.start()
        self.addCleanup(never.stop)

    async def test_they_begin_now_or_behind_a_cursor_and_go_on(self) -> None:
        async with self.client() as w:
            for name in "abc":
                await w.call("queue_instruction", {"content": name})
            events = w.events("0")
            self.assertEqual([(await events.__anext__())["seq"] for _ in range(3)], [1, 2, 3])
            more = asyncio.ensure_future(events.__anext__())
            await w.call("queue_instruction", {"content": "d"})
            self.assertEqual((await more)["seq"], 4)
            kept = events.cursor
        async with self.client() as w:
            self.assertEqual((await w.events(kept).__anext__())["seq"], 4)
            from_now = w.events(await w.cursor(), types=["task.created"])
            await w.call("queue_instruction", {"content": "e"})
            made = await w.call("create_task", {"prompt": "x"})
            self.assertEqual((await from_now.__anext__())["subject_id"], made["task"]["task_id"])

    async def test_what_another_process_did_comes_too(self) -> None:
        async with self.client() as w, self.client() as other:
            events = w.events("0", types=["task.created"])
            coming = asyncio.ensure_future(events.__anext__())
            await w.call("ping")
            made = await other.call("create_task", {"prompt": "x"})
            self.assertEqual((await coming)["subject_id"], made["task"]["task_id"])

    async def test_what_was_told_to_nobody_is_found_by_looking(self) -> None:
        async with self.client(pump("mute")) as w, self.client() as other:
            with mock.patch("waybill.streams.LOOK_SECONDS", 0.01):
                events = w.events("0")
                coming = asyncio.ensure_future(events.__anext__())
                await w.call("ping")
                await other.call("create_task", {"prompt": "x"})
                self.assertEqual((await coming)["seq"], 1)

    async def test_a_reader_that_is_cancelled_misses_nothing(self) -> None:
        async with self.client() as w:
            events = w.events("0")
            for i in range(1, 30):
                waiting = asyncio.ensure_future(events.__anext__())
                for _ in range(i % 5):
                    await asyncio.sleep(0)
                waiting.cancel()
                await asyncio.gather(waiting, return_exceptions=True)
                if not waiting.cancelled():
                    self.fail("there was an event before anything had happened")
            await w.call("queue_instruction", {"content": "a"})
            self.assertEqual((await events.__anext__())["seq"], 1)

    async def test_they_end_with_the_client(self) -> None:
        async with self.client(restart=Restart()) as w:
            events = w.events()
            waiting = asyncio.ensure_future(events.__anext__())
            await w.call("ping")
        with self.assertRaises(StopAsyncIteration):
            await waiting
        self.assertEqual([event async for event in w.events()], [])

    async def test_a_wrong_cursor_is_an_error(self) -> None:
        async with self.client() as w:
            with self.assertRaises(WaybillError) as caught:
                await w.events("no cursor").__anext__()
            self.assertEqual(caught.exception.method, "events_since")
