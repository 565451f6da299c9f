"""Every way in which a call can be refused, as agents and people are told about it.

A message names the field and says what to do. It never repeats a value that was sent or stored.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import ClassVar

from pydantic import ValidationError

from memoryhub.common.complaints import complaint, field_path, is_wrong_type

SHOWN_FIELDS = 5


class HubError(Exception):
    """A refusal. `details` is plain JSON; `status` is the HTTP status of the same answer."""

    code: ClassVar[str]
    status: ClassVar[int]
    keeps_writes: ClassVar[bool] = False
    """What was written on the way to this refusal stays written."""

    def __init__(self, message: str, **details: object) -> None:
        self.message = message
        self.details = details

    def __str__(self) -> str:
        return self.message

    def body(self) -> dict[str, object]:
        error: dict[str, object] = {"code": self.code, "message": self.message}
        if self.details:
            error["details"] = self.details
        return {"error": error}


class InvalidRequest(HubError):
    code, status = "invalid_request", 400


class Unauthorized(HubError):
    code, status = "unauthorized", 401


class Forbidden(HubError):
    code, status = "forbidden", 403


class ReservedNamespace(HubError):
    code, status = "reserved_namespace", 403


class NotFound(HubError):
    """Absent, or not readable by the caller. The answer depends on the noun alone: it can't tell which."""

    code, status = "not_found", 404

    def __init__(self, noun: str) -> None:
        super().__init__(f"No {noun} with this id that you may read.")


class Conflict(HubError):
    """Somebody else was first. `expected` is what the caller believed, `actual` what is stored,
    `current` what a caller needs to try again (a version, a state, or the whole current object)."""

    code, status = "conflict", 409

    def __init__(
        self, message: str, *, expected: object = None, actual: object = None, current: object = None
    ) -> None:
        facts = {"expected": expected, "actual": actual, "current": current}
        known = any(fact is not None for fact in facts.values())
        super().__init__(message, **(facts if known else {}))


class InvalidTransition(HubError):
    code, status = "invalid_transition", 409


class IdempotencyConflict(HubError):
    code, status = "idempotency_conflict", 409


class PreconditionFailed(HubError):
    code, status = "precondition_failed", 409


class NotConnected(HubError):
    code, status = "not_connected", 409


class UndoExpired(HubError):
    code, status = "undo_expired", 410


class PayloadTooLarge(HubError):
    code, status = "payload_too_large", 413


class ValidationFailed(HubError):
    """A value is out of its range or form: {field path: [what is wrong with it, …]}."""

    code, status = "validation_failed", 422

    def __init__(self, fields: Mapping[str, Sequence[str]]) -> None:
        self.fields = {field: list(messages) for field, messages in fields.items()}
        super().__init__(_sentence(self.fields), fields=self.fields)


class SecretRejected(HubError):
    code, status = "secret_rejected", 422


class RateLimited(HubError):
    code, status = "rate_limited", 429


class QuotaExceeded(HubError):
    code, status = "quota_exceeded", 429


class Internal(HubError):
    code, status = "internal", 500


class Unavailable(HubError):
    code, status = "unavailable", 503


def from_pydantic(error: ValidationError, unknown: Sequence[str] = ()) -> InvalidRequest | ValidationFailed:
    """Our refusal for pydantic's: a value of the wrong type, or an argument nobody knows, makes it
    `invalid_request`; otherwise it is `validation_failed`. Both carry `details.fields`, and name arguments that were
    sent and are `unknown`: what is missing may be there under another spelling."""
    faults = error.errors(include_url=False, include_input=False)
    fields = _collect((field_path(fault["loc"]), complaint(fault)) for fault in faults)
    wrong_type = any(is_wrong_type(fault["type"]) for fault in faults)
    refusal = InvalidRequest(_sentence(fields), fields=fields) if wrong_type else ValidationFailed(fields)
    if unknown:
        named = [field_path([name]) for name in unknown]
        refusal.details["unknown"] = named
        refusal.message += f" Not known here: {', '.join(named[:SHOWN_FIELDS])}."
    return refusal


def _collect(pairs: Iterable[tuple[str, str]]) -> dict[str, list[str]]:
    fields: dict[str, list[str]] = {}
    for field, message in pairs:
        messages = fields.setdefault(field, [])
        if message not in messages:
            messages.append(message)
    return fields


def _sentence(fields: Mapping[str, Sequence[str]]) -> str:
    lines = [f"{field}: {' '.join(messages)}" for field, messages in fields.items()]
    shown = " ".join(lines[:SHOWN_FIELDS])
    return shown if len(lines) <= SHOWN_FIELDS else f"{shown} And {len(lines) - SHOWN_FIELDS} more fields."
