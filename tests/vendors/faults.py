"""What goes wrong at vendors, or on the way to them. `effect`: whether the thing was made all the same."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Fault:
    """`answer` is "drop" (the connection breaks), "slow" (the answer never ends), "malformed", "huge", or a
    status."""

    name: str
    effect: bool
    answer: str | int


FAULTS = [
    Fault("drop before the effect", False, "drop"),
    Fault("drop after the effect", True, "drop"),
    Fault("too many requests", False, 429),
    Fault("500 before the effect", False, 500),
    Fault("500 after the effect", True, 500),
    Fault("slow", True, "slow"),
    Fault("malformed", True, "malformed"),
    Fault("redirect", False, 302),
    Fault("revoked token", False, 401),
]
HUGE = Fault("huge", True, "huge")
BY_NAME = {fault.name: fault for fault in [*FAULTS, HUGE]}
