import django.contrib.postgres.fields
import django.db.models.deletion
from django.db import migrations, models
from django.db.migrations.operations import RunSQL

import memoryhub.common.ids
from memoryhub.common.tenancy import APP_ROLE, tenant_table

WRITTEN_ONCE = RunSQL(
    f"REVOKE UPDATE ON spaces_planversion FROM {APP_ROLE}",
    f"GRANT UPDATE ON spaces_planversion TO {APP_ROLE}",
)


class Migration(migrations.Migration):
    dependencies = [
        ("accounts", "0002_job_lanes"),
        ("spaces", "0004_session_order"),
    ]

    operations = [
        migrations.CreateModel(
            name="Plan",
            fields=[
                (
                    "id",
                    models.UUIDField(
                        default=memoryhub.common.ids.new_id, editable=False, primary_key=True, serialize=False
                    ),
                ),
                ("title", models.CharField(max_length=200)),
                ("content", models.TextField()),
                (
                    "tags",
                    django.contrib.postgres.fields.ArrayField(
                        base_field=models.CharField(max_length=50), blank=True, default=list, size=None
                    ),
                ),
                ("metadata", models.JSONField(blank=True, default=dict)),
                (
                    "type",
                    models.CharField(
                        choices=[
                            ("plan", "plan"),
                            ("prd", "prd"),
                            ("task", "task"),
                            ("reasoning_trace", "reasoning_trace"),
                        ],
                        default="plan",
                        max_length=15,
                    ),
                ),
                (
                    "status",
                    models.CharField(
                        choices=[("draft", "draft"), ("active", "active"), ("completed", "completed")],
                        default="draft",
                        max_length=9,
                    ),
                ),
                ("version", models.PositiveIntegerField(default=1)),
                ("written_by", models.CharField(max_length=80)),
                ("created_at", models.DateTimeField()),
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
                (
                    "space",
                    models.ForeignKey(
                        db_constraint=False,
                        db_index=False,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="+",
                        to="spaces.space",
                    ),
                ),
            ],
        ),
        migrations.CreateModel(
            name="PlanVersion",
            fields=[
                (
                    "id",
                    models.UUIDField(
                        default=memoryhub.common.ids.new_id, editable=False, primary_key=True, serialize=False
                    ),
                ),
                ("version", models.PositiveIntegerField()),
                ("data", models.JSONField()),
                ("written_by", models.CharField(max_length=80)),
                ("written_at", models.DateTimeField()),
                ("diff", models.TextField(blank=True)),
                (
                    "changed",
                    django.contrib.postgres.fields.ArrayField(
                        base_field=models.CharField(max_length=10), blank=True, default=list, size=None
                    ),
                ),
                (
                    "account",
                    models.ForeignKey(
                        db_index=False,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="+",
                        to="accounts.account",
                    ),
                ),
                (
                    "plan",
                    models.ForeignKey(
                        db_constraint=False,
                        db_index=False,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="versions",
                        to="spaces.plan",
                    ),
                ),
            ],
        ),
        *tenant_table("spaces_plan", [("space_id", "spaces_space", "CASCADE")]),
        *tenant_table("spaces_planversion", [("plan_id", "spaces_plan", "CASCADE")]),
        WRITTEN_ONCE,
        migrations.AddIndex(
            model_name="plan",
            index=models.Index(fields=["account", "space", "-updated_at", "-id"], name="plan_latest"),
        ),
        migrations.AddConstraint(
            model_name="plan",
            constraint=models.CheckConstraint(
                condition=models.Q(("type__in", ("plan", "prd", "task", "reasoning_trace"))), name="plan_type"
            ),
        ),
        migrations.AddConstraint(
            model_name="plan",
            constraint=models.CheckConstraint(
                condition=models.Q(("status__in", ("draft", "active", "completed"))), name="plan_status"
            ),
        ),
        migrations.AddConstraint(
            model_name="planversion",
            constraint=models.UniqueConstraint(fields=("account", "plan", "version"), name="plan_version"),
        ),
    ]
