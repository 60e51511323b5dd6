"""For the type checker alone: what it must understand, and, with an ignore that has to be needed, what it must refuse."""

from __future__ import annotations

from typing import List, Optional

from waybill import Waybill
from waybill.protocol import Claim, Notification, Task


async def answers_have_their_types(w: Waybill) -> None:
    made: Task = (await w.call("create_task", {"prompt": "x", "models": [{"provider_id": "p", "model_id": "m"}]}))["task"]
    claim: Optional[Claim] = (await w.call("claim_task", {"worker": "w"}))["claim"]
    ids: List[str] = [one["task_id"] for one in (await w.call("list_tasks", {"status": "QUEUED"}))["items"]]
    pong: bool = (await w.call("ping"))["pong"]
    print(made, claim, ids, pong)


async def mistakes_are_found(w: Waybill) -> None:
    await w.call("no_such_method")  # type: ignore[call-overload]
    await w.call("create_task")  # type: ignore[call-overload]
    await w.call("create_task", {})  # type: ignore[call-overload]
    await w.call("create_task", {"promt": "x"})  # type: ignore[call-overload]
    await w.call("list_tasks", {"status": "DONE"})  # type: ignore[call-overload]
    (await w.call("ping"))["pang"]  # type: ignore[typeddict-item]
    (await w.call("claim_task", {"worker": "w"}))["claim"]["prompt"]  # type: ignore[index]


def a_method_tells_the_params(note: Notification) -> str:
    if note["method"] == "task/updated":
        return note["params"]["task_id"]
    if note["method"] == "log":
        note["params"]["task_id"]  # type: ignore[typeddict-item]
    return ""
