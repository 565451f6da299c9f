"""What `memoryhub up --demo` fills the first space with: a believable team's week, written by its agents."""

from __future__ import annotations

import json
import re
from datetime import timedelta
from importlib.resources import files
from typing import Any

from django.db import transaction
from django.utils import timezone

import memoryhub.operations.catalogue  # noqa: F401 (registers every operation)
from accounts.actor import Actor, system_actor
from accounts.domain.credentials import authenticate
from accounts.domain.keys import create_key
from accounts.models import Account, AgentKey
from memoryhub.common.tenancy import tenant
from memoryhub.operations.base import REGISTRY
from spaces.models import Space

DAY = re.compile(r"@([+-]?\d+)")


def fill() -> bool:
    """Make the calls of demo.json in the oldest space of the first team. Does nothing where that was done."""
    told = json.loads(files(__package__).joinpath("demo.json").read_text())
    account = Account.objects.earliest("created_at")
    with transaction.atomic():
        agents = _agents(account, told["agents"])
        for call in told["calls"] if agents else ():
            actor = agents[call.pop("agent")]
            ((name, arguments),) = call.items()
            _call(actor, name, arguments)
    return bool(agents)


def _agents(account: Account, names: dict[str, str]) -> dict[str, Actor]:
    """Each by a key of its own; none if they are there already."""
    with tenant(account.id):
        if AgentKey.objects.filter(account_id=account.id, name__in=names).exists():
            return {}
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


def _call(actor: Actor, name: str, arguments: dict[str, Any]) -> None:
    operation = REGISTRY.get(name, "hub")
    assert operation, name
    operation(actor, {key: _dated(value) for key, value in arguments.items()})


def _dated(value: Any) -> Any:
    """`@-1` is yesterday."""
    if isinstance(value, dict):
        return {key: _dated(inner) for key, inner in value.items()}
    found = DAY.fullmatch(value) if isinstance(value, str) else None
    return (timezone.now() + timedelta(days=int(found[1]))).date().isoformat() if found else value
