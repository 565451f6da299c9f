"""Memories by what their metadata hold, and how answers of a session are accompanied.

`@>` is not leakproof, so under row-level security an index on the metadata would not be used. The function runs with
its owner's rights, takes the account from the setting alone and answers where rows lie.
"""

import django.db.models.deletion
from django.db import migrations, models
from django.db.migrations.operations import RunSQL

import memoryhub.common.ids
from memoryhub.common.tenancy import ACCOUNT_IN_FORCE, APP_ROLE, tenant_table

# With its account beside a memory's metadata, the index meets no other account's rows. What is asked for is compared
# with the metadata alone as well: they may have a field of any name.
HELD = """(metadata || ('{"@":"' || account_id::text || '"}')::jsonb)"""
INDEX = RunSQL(
    f"CREATE INDEX memory_metadata ON spaces_memory USING gin ({HELD} jsonb_path_ops)",
    "DROP INDEX memory_metadata",
)
FIND = RunSQL(
    [
        f"""
    CREATE FUNCTION hub_memories_with(wanted jsonb[]) RETURNS SETOF tid
    LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pg_catalog, public ROWS 200
    AS $$
        SELECT memory.ctid FROM unnest(wanted) AS asked, public.spaces_memory AS memory
        WHERE {HELD} @> (asked || ('{{"@":"' || {ACCOUNT_IN_FORCE}::text || '"}}')::jsonb)
        AND metadata @> asked
        AND account_id IS NOT DISTINCT FROM {ACCOUNT_IN_FORCE}
    $$
""",
        "REVOKE ALL ON FUNCTION hub_memories_with(jsonb[]) FROM PUBLIC",
        f"GRANT EXECUTE ON FUNCTION hub_memories_with(jsonb[]) TO {APP_ROLE}",
    ],
    "DROP FUNCTION hub_memories_with(jsonb[])",
)


class Migration(migrations.Migration):
    dependencies = [
        ("accounts", "0002_job_lanes"),
        ("spaces", "0005_plans"),
    ]

    operations = [
        migrations.CreateModel(
            name="AutoContext",
            fields=[
                (
                    "id",
                    models.UUIDField(
                        default=memoryhub.common.ids.new_id, editable=False, primary_key=True, serialize=False
                    ),
                ),
                ("credential", models.CharField(max_length=80)),
                ("session", models.CharField(blank=True, max_length=200)),
                ("enabled", models.BooleanField(default=False)),
                ("max_memories", models.PositiveSmallIntegerField(default=5)),
                ("min_relevance", models.FloatField(default=0.6)),
                ("auto_trace", models.BooleanField(default=False)),
                ("updated_at", models.DateTimeField()),
                (
                    "account",
                    models.ForeignKey(
                        db_index=False,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="+",
                        to="accounts.account",
                    ),
                ),
            ],
            options={
                "constraints": [
                    models.UniqueConstraint(
                        fields=("account", "credential", "session"), name="auto_context_session"
                    ),
                    models.CheckConstraint(
                        condition=models.Q(("max_memories__gte", 1), ("max_memories__lte", 20)),
                        name="auto_context_memories",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(("min_relevance__gte", 0), ("min_relevance__lte", 1)),
                        name="auto_context_relevance",
                    ),
                ],
            },
        ),
        *tenant_table("spaces_autocontext"),
        INDEX,
        FIND,
    ]
