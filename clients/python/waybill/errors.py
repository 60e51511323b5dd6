"""What can go wrong with a call. An error says whether the call took effect; it is not a "no"."""

from __future__ import annotations

from typing import Any, Dict, Optional


class WaybillError(Exception):
    """The answer to a call is an error.

    code is the contract: one of protocol.ErrorCode, a code of a newer waybill, or "DISCONNECTED". outcome says whether
    the call took effect: "not_applied", "applied" or "unknown". retryable says whether the same call may succeed later.
    idempotency_key is the key that the call was sent with: the same call with the same key takes effect once.
    """

    def __init__(
        self,
        message: str,
        *,
        code: str,
        method: str = "",
        number: int = 0,
        outcome: str = "not_applied",
        retryable: bool = False,
        retry_after_ms: int = 0,
        hint: str = "",
        details: Optional[Dict[str, Any]] = None,
        incident: str = "",
        idempotency_key: Optional[str] = None,
    ) -> None:
        super().__init__(message)
        self.message = message
        self.code = code
        self.method = method
        self.number = number
        self.outcome = outcome
        self.retryable = retryable
        self.retry_after_ms = retry_after_ms
        self.hint = hint
        self.details = details or {}
        self.incident = incident
        self.idempotency_key = idempotency_key

    def __str__(self) -> str:
        where = f"{self.method}: " if self.method else ""
        hint = f" ({self.hint})" if self.hint else ""
        return f"{where}{self.message} [{self.code}, {self.outcome}]{hint}"


class Disconnected(WaybillError):
    """There is no waybill to answer: it could not be started, it is gone, or the client was closed."""

    def __init__(
        self, message: str, *, method: str = "", outcome: str = "not_applied", idempotency_key: Optional[str] = None
    ) -> None:
        super().__init__(
            message,
            code="DISCONNECTED",
            method=method,
            outcome=outcome,
            retryable=True,
            idempotency_key=idempotency_key,
        )


def from_answer(error: Any, *, method: str, idempotency_key: Optional[str]) -> WaybillError:
    """Gives the exception for the error object of an answer, and for one that is not as it should be."""
    said = error if isinstance(error, dict) else {}
    data = said.get("data")
    if not isinstance(data, dict):
        data = {}
    details = data.get("details")
    return WaybillError(
        str(said.get("message", error)),
        code=str(data.get("code", "INTERNAL")),
        method=method,
        number=_whole(said.get("code")),
        outcome=str(data.get("outcome", "unknown")),
        retryable=data.get("retryable") is True,
        retry_after_ms=_whole(data.get("retry_after_ms")),
        hint=str(data.get("hint", "")),
        details=details if isinstance(details, dict) else None,
        incident=str(data.get("incident", "")),
        idempotency_key=idempotency_key,
    )


def _whole(value: object) -> int:
    return value if isinstance(value, int) else 0
