"""Search by words: each lexeme's weight beside the vector, and the functions that may read the index.

`@@` is not leakproof, so under row-level security the index on `search_vector` would not be used. These
functions run with their owner's rights, take the account from the setting alone and answer ids or counts.
"""

import pgvector.django
from django.contrib.postgres.indexes import GinIndex
from django.db import migrations
from django.db.migrations.operations import RunSQL

from memoryhub.common.tenancy import ACCOUNT_IN_FORCE, APP_ROLE

# Every vector holds its account as a lexeme, so the index meets no other account's rows. The account's column
# is compared in a way that no index serves: a plain `=` would tempt the planner to read the whole account.
HOLDING = f"""
    public.spaces_memory
    WHERE search_vector @@ (format('''@%s''', replace({ACCOUNT_IN_FORCE}::text, '-', ''))::tsquery && query)
    AND account_id IS NOT DISTINCT FROM {ACCOUNT_IN_FORCE}
"""

FIND = f"""
    CREATE FUNCTION hub_find_memories(query tsquery) RETURNS SETOF tid
    LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pg_catalog, public ROWS 200
    AS $$ SELECT ctid FROM {HOLDING} $$
"""

# An empty query counts all.
COUNT = f"""
    CREATE FUNCTION hub_count_memories(queries tsquery[]) RETURNS bigint[]
    LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pg_catalog, public
    AS $$
        SELECT array_agg(
            CASE numnode(query)
                WHEN 0 THEN (SELECT count(*) FROM public.spaces_memory WHERE account_id = {ACCOUNT_IN_FORCE})
                ELSE (SELECT count(*) FROM {HOLDING})
            END
            ORDER BY place
        )
        FROM unnest(queries) WITH ORDINALITY AS asked (query, place)
    $$
"""


def reserved(name: str, arguments: str) -> RunSQL:
    function = f"{name}({arguments})"
    return RunSQL(
        [
            f"REVOKE ALL ON FUNCTION {function} FROM PUBLIC",
            f"GRANT EXECUTE ON FUNCTION {function} TO {APP_ROLE}",
        ],
        RunSQL.noop,
    )


class Migration(migrations.Migration):
    dependencies = [("spaces", "0001_initial")]

    operations = [
        migrations.AddField(
            model_name="memory",
            name="search_weights",
            field=pgvector.django.SparseVectorField(editable=False, null=True),
        ),
        # Kept in the row, since every candidate's is read; the text, if it is long, moves out instead.
        RunSQL("ALTER TABLE spaces_memory ALTER search_weights SET STORAGE MAIN", RunSQL.noop),
        migrations.RemoveIndex("memory", "memory_words"),
        migrations.AddIndex(
            "memory", GinIndex(fields=["search_vector"], fastupdate=False, name="memory_words")
        ),
        RunSQL(FIND, "DROP FUNCTION hub_find_memories(tsquery)"),
        reserved("hub_find_memories", "tsquery"),
        RunSQL(COUNT, "DROP FUNCTION hub_count_memories(tsquery[])"),
        reserved("hub_count_memories", "tsquery[]"),
    ]
