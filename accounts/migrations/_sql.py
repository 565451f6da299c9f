"""What the first migration says in SQL."""

from django.db.migrations.operations import RunSQL

from memoryhub.common.tenancy import APP_ROLE

# Events are append-only: sealing fills in the number and the hashes once, nothing changes the rest.
APPEND_ONLY_EVENTS = RunSQL(
    [
        f"REVOKE UPDATE, DELETE ON accounts_event FROM {APP_ROLE}",
        f"GRANT UPDATE (seq, previous_hash, hash) ON accounts_event TO {APP_ROLE}",
        f"CREATE POLICY sealed_once ON accounts_event AS RESTRICTIVE FOR UPDATE TO {APP_ROLE}"
        " USING (seq IS NULL) WITH CHECK (seq IS NOT NULL)",
    ],
    [
        "DROP POLICY sealed_once ON accounts_event",
        f"GRANT UPDATE, DELETE ON accounts_event TO {APP_ROLE}",
    ],
)

CACHE_TABLE = RunSQL(
    [
        "CREATE TABLE hub_cache (cache_key varchar(255) PRIMARY KEY, value text NOT NULL,"
        " expires timestamptz NOT NULL)",
        "CREATE INDEX hub_cache_expires ON hub_cache (expires)",
    ],
    ["DROP TABLE hub_cache"],
)
