"""Calls that wait for their answers, in the order in which they were made. This module knows no pipe."""

from __future__ import annotations

import asyncio
import json
from typing import Any, Callable, Dict, Mapping, Optional

from .errors import Disconnected, WaybillError, from_answer
from .protocol import KEYED, MAX_MESSAGE_BYTES


class Call:
    """Call is a request whose answer has not come yet."""

    def __init__(self, number: int, method: str, params: Mapping[str, object]) -> None:
        self.id = number
        self.method = method
        self.key: Optional[str] = _text(params.get("idempotency_key"))
        self.line = encode(method, params, number)
        self.sends = 0
        self.answer: asyncio.Future[Any] = asyncio.get_running_loop().create_future()
        self.answer.add_done_callback(_seen)

    def settle(self, message: Mapping[str, Any]) -> None:
        """Takes the answer."""
        if "error" in message:
            self.fail(from_answer(message["error"], method=self.method, idempotency_key=self.key))
        elif not self.answer.done():
            self.answer.set_result(message.get("result"))

    def fail(self, error: WaybillError) -> None:
        if not self.answer.done():
            self.answer.set_exception(error)

    def lose(self, why: str) -> None:
        """Ends the call for want of an answer."""
        self.fail(Disconnected(why, method=self.method, outcome=self._outcome(), idempotency_key=self.key))

    def overrun(self, most: int) -> None:
        """Ends the call because its answer is longer than the client takes."""
        what = f"the answer has more than {most} bytes; ask for less, or raise max_line_bytes"
        self.fail(
            WaybillError(
                what,
                code="MESSAGE_TOO_LARGE",
                method=self.method,
                outcome=self._outcome(),
                idempotency_key=self.key,
            )
        )

    def _outcome(self) -> str:
        """Says what is known of a call without an answer that can be read."""
        return "unknown" if self.sends > 0 and self.method in KEYED else "not_applied"


class Calls:
    """Calls are the calls in hand."""

    def __init__(self) -> None:
        self._waiting: Dict[int, Call] = {}
        self._numbers = 0

    def add(self, method: str, params: Mapping[str, object]) -> Call:
        self._numbers += 1
        call = Call(self._numbers, method, params)
        self._waiting[call.id] = call
        return call

    def drop(self, call: Call) -> bool:
        """Forgets a call, and reports whether its answer was still awaited."""
        return self._waiting.pop(call.id, None) is not None

    def take(self, number: object) -> Optional[Call]:
        """Gives the call that an answer is for. One that nobody waits for any more has none."""
        return self._waiting.pop(number, None) if isinstance(number, int) else None

    def send(self, write: Callable[[bytes], None], most: int) -> None:
        """Sends every call again, in order. One that was sent so often already is lost: it may be what kills waybill."""
        for call in list(self._waiting.values()):
            if call.sends >= most:
                del self._waiting[call.id]
                call.lose(f"waybill was gone {call.sends} times before it answered this call")
                continue
            call.sends += 1
            write(call.line)

    def lose(self, why: str) -> None:
        """Ends every call for want of an answer."""
        waiting, self._waiting = self._waiting, {}
        for call in waiting.values():
            call.lose(why)


def encode(method: str, params: Mapping[str, object], number: Optional[int] = None) -> bytes:
    """Gives the line of a request, or of a notification if it has no number.

    What waybill could not answer by the request's number, because it could not read it, is refused here.
    """
    message: Dict[str, object] = {"jsonrpc": "2.0", "method": method, "params": params}
    if number is not None:
        message["id"] = number
    try:
        line = json.dumps(message, ensure_ascii=False, allow_nan=False, separators=(",", ":")).encode("utf-8") + b"\n"
    except UnicodeEncodeError as error:
        raise _refused(method, "INVALID_UTF8", f"the params hold half of a surrogate pair: {error}") from error
    except (TypeError, ValueError, RecursionError) as error:
        raise _refused(method, "INVALID_PARAMS", f"the params are not JSON: {error}") from error
    if len(line) > MAX_MESSAGE_BYTES:
        what = f"the call has {len(line)} bytes, and {MAX_MESSAGE_BYTES} are the most that waybill takes"
        raise _refused(method, "MESSAGE_TOO_LARGE", what)
    return line


def _refused(method: str, code: str, message: str) -> WaybillError:
    return WaybillError(message, code=code, method=method)


def _text(value: object) -> Optional[str]:
    return value if isinstance(value, str) else None


def _seen(answer: asyncio.Future[Any]) -> None:
    """Counts an error as seen: whoever was cancelled in this moment does not look at it any more."""
    if not answer.cancelled():
        answer.exception()
