"""Asks for a connection's token in several threads at once and prints what they got: `… account connection threads`."""

import json
import sys
from concurrent.futures import ThreadPoolExecutor
from uuid import UUID

import django

from memoryhub.running import lifeline

lifeline.hold_on()
django.setup()

from django.db import connection as database  # noqa: E402

from actions.connectors.answers import Trouble  # noqa: E402
from actions.domain.tokens import current_token  # noqa: E402
from actions.models import Connection  # noqa: E402
from memoryhub.common.tenancy import tenant  # noqa: E402

account, connection, threads = UUID(sys.argv[1]), UUID(sys.argv[2]), int(sys.argv[3])
with tenant(account):
    found = Connection.objects.get(account_id=account, id=connection)


def ask(_turn: int) -> str:
    try:
        return current_token(found)
    except Trouble as trouble:
        return f"{type(trouble).__name__}: {trouble.reason}"
    finally:
        database.close()


sys.stdout.write("ready\n")
sys.stdout.flush()
sys.stdin.readline()
with ThreadPoolExecutor(threads) as pool:
    sys.stdout.write(json.dumps(list(pool.map(ask, range(threads)))) + "\n")
