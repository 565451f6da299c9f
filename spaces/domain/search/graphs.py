"""A graph over the vectors of each account that has very many, built in the background.

Only the tables' owner may build an index, and only outside a transaction may it be built while others write. So it
is done over a connection of its own with the owner's login, from DATABASE_OWNER_URL. Where the worker has none,
large accounts go on being searched by bits, which is exact enough and slower.
"""

import logging
from collections.abc import Iterator, Mapping
from typing import Any
from uuid import UUID

import psycopg
from django.conf import settings
from django.db import connection
from psycopg import sql
from psycopg.conninfo import make_conninfo

from accounts.models import Account
from memoryhub.common.tenancy import tenant
from spaces.domain.search.sizes import BITS_UP_TO, count_vectors, graph_name
from spaces.models import EmbeddingModel

Owner = psycopg.Connection[Any]

log = logging.getLogger(__name__)

BUILD = sql.SQL(
    "create index concurrently if not exists {name} on spaces_memorychunk"
    " using hnsw ((vector::halfvec({dimensions})) halfvec_cosine_ops)"
    " where account_id = {account} and model_id = {model}"
)
DROP = sql.SQL("drop index concurrently if exists {name}")
BUILT = """
    select relname, indisvalid from pg_index join pg_class on pg_class.oid = indexrelid
     where relname like 'memory\\_chunk\\_graph\\_%'
"""


def tend_graphs() -> list[str]:
    """Build what is missing and drop what nobody searches any more; answers what was built."""
    wanted = {graph_name(account, model.id): (account, model) for account, model in _large()}
    with connection.cursor() as cursor:
        cursor.execute(BUILT)
        if {name for name, sound in cursor.fetchall() if sound} == wanted.keys():
            return []
    connection.close()  # a build waits until the transactions that are open have ended
    with psycopg.connect(owner_login(), autocommit=True) as owner:
        return _mend(owner, wanted) if _alone(owner) else []


def _alone(owner: Owner) -> bool:
    """Held until the connection ends."""
    row = owner.execute("select pg_try_advisory_lock(hashtextextended('memory graphs', 0))").fetchone()
    return bool(row and row[0])


def _mend(owner: Owner, wanted: Mapping[str, tuple[UUID, EmbeddingModel]]) -> list[str]:
    """What a stopped build has left behind is not sound: it goes, and is built anew."""
    there = dict(owner.execute(BUILT).fetchall())
    for name, sound in there.items():
        if name not in wanted or not sound:
            owner.execute(DROP.format(name=sql.Identifier(name)))
    missing = [name for name in wanted if not there.get(name)]
    for name in missing:
        log.info("Building %s", name)
        _build(owner, name, *wanted[name])
    return missing


def _build(owner: Owner, name: str, account_id: UUID, model: EmbeddingModel) -> None:
    parts = {"dimensions": model.dimensions, "account": account_id, "model": model.id}
    literals = {key: sql.Literal(value) for key, value in parts.items()}
    owner.execute(BUILD.format(name=sql.Identifier(name), **literals))


def _large() -> Iterator[tuple[UUID, EmbeddingModel]]:
    models = list(EmbeddingModel.objects.wanted())
    for account_id in list(Account.objects.values_list("id", flat=True)):
        with tenant(account_id):
            found = [model for model in models if count_vectors(account_id, model) > BITS_UP_TO]
        yield from ((account_id, model) for model in found)


def owner_login() -> str:
    """To the same database, as its owner."""
    names = {"USER": "user", "PASSWORD": "password", "HOST": "host", "PORT": "port"}
    known = {names[key]: str(value) for key, value in settings.DB_OWNER.items() if key in names and value}
    options = settings.DB_OWNER.get("OPTIONS", {})
    return make_conninfo("", **{**options, **known, "dbname": str(connection.settings_dict["NAME"])})
