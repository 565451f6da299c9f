"""What `memoryhub up --demo` fills the first space with: a believable team's week, written by its agents."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from datetime import timedelta
from importlib.resources import files
from itertools import chain
from typing import Any

from django.db import transaction
from django.utils import timezone

import memoryhub.operations.catalogue  # noqa: F401 (registers every operation)
from accounts.actor import Actor, system_actor
from accounts.domain.credentials import authenticate
from accounts.domain.keys import create_key
from accounts.models import Account
from memoryhub.common.tenancy import tenant
from memoryhub.flows.erasing import KEPT
from memoryhub.operations.base import REGISTRY
from spaces.domain.kinds import all_kinds
from spaces.models import Space

DAY = re.compile(r"@([+-]?\d+)")


def fill() -> bool:
    """Make the calls of demo.json in the oldest space of the first team. Whether: it does nothing where anything
    was written before."""
    told = json.loads(files(__package__).joinpath("demo.json").read_text())
    account = Account.objects.earliest("created_at")
    with transaction.atomic():
        if _in_use(account):
            return False
        agents = _agents(account, told["agents"])
        made: dict[str, Any] = {}
        for call in told["calls"]:
            actor, known_as = agents[call.pop("agent")], call.pop("as", "")
            ((name, arguments),) = call.items()
            id = _call(actor, name, arguments, made)
            if known_as:
                made[f"${known_as}"] = id
    return True


def _in_use(account: Account) -> bool:
    """Whether there is anything that would leave with an export, but for what only tells that the hub was set up."""
    with tenant(account.id):
        places = [None, *Space.objects.filter(account_id=account.id)]
        system = system_actor(account.id)
        kinds = [kind for kind in all_kinds() if kind.prefix not in KEPT]
        rows = chain.from_iterable(kind.export(system, place) for kind in kinds for place in places)
        return next(rows, None) is not None


def _agents(account: Account, names: dict[str, str]) -> dict[str, Actor]:
    """Each by a key of its own."""
    with tenant(account.id):
        space = Space.objects.filter(account_id=account.id).earliest("created_at")
        system = system_actor(account.id)
        made = {
            name: create_key(system, name=name, preset="agent", default_space_id=space.id).secret
            for name in names
        }
    return {name: _signed_in(secret, names[name]) for name, secret in made.items()}


def _signed_in(secret: str, agent: str) -> Actor:
    headers = {"authorization": f"Bearer {secret}", "x-memory-hub-agent-id": agent}
    return authenticate(headers, address="127.0.0.1")


def _call(actor: Actor, name: str, arguments: dict[str, Any], made: Mapping[str, Any]) -> Any:
    """The id of what was made, if the answer has one. `$name` stands for the id that came of the call known as that."""
    operation = REGISTRY.get(name, "hub") or REGISTRY.get(name)
    assert operation, name
    said = {key: made[value] if str(value) in made else _dated(value) for key, value in arguments.items()}
    return operation(actor, said).get("id")


def _dated(value: Any) -> Any:
    """`@-1` is yesterday."""
    if isinstance(value, dict):
        return {key: _dated(inner) for key, inner in value.items()}
    found = DAY.fullmatch(value) if isinstance(value, str) else None
    return (timezone.now() + timedelta(days=int(found[1]))).date().isoformat() if found else value
