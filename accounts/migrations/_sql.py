"""What the first migration says in SQL."""

from django.db.migrations.operations import RunSQL

from memoryhub.common.tenancy import APP_ROLE

# Events are append-only: sealing may fill in the number and the hashes, nothing may change the rest.
APPEND_ONLY_EVENTS = RunSQL(
    [
        f"REVOKE UPDATE, DELETE ON accounts_event FROM {APP_ROLE}",
        f"GRANT UPDATE (seq, previous_hash, hash) ON accounts_event TO {APP_ROLE}",
    ],
    [f"GRANT UPDATE, DELETE ON accounts_event TO {APP_ROLE}"],
)

CACHE_TABLE = RunSQL(
    [
        "CREATE TABLE hub_cache (cache_key varchar(255) PRIMARY KEY, value text NOT NULL,"
        " expires timestamptz NOT NULL)",
        "CREATE INDEX hub_cache_expires ON hub_cache (expires)",
    ],
    ["DROP TABLE hub_cache"],
)
