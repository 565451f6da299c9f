import django.db.models.deletion
from django.db import migrations, models

import memoryhub.common.ids
from memoryhub.common.tenancy import APP_ROLE, tenant_table


class Migration(migrations.Migration):
    """What looking through the chain of events found, hour by hour; written once."""

    dependencies = [("accounts", "0003_own_addresses")]

    operations = [
        migrations.CreateModel(
            name="Checkpoint",
            fields=[
                (
                    "id",
                    models.UUIDField(
                        default=memoryhub.common.ids.new_id,
                        editable=False,
                        primary_key=True,
                        serialize=False,
                    ),
                ),
                ("at", models.DateTimeField()),
                ("seq", models.BigIntegerField()),
                ("hash", models.BinaryField(max_length=32)),
                ("key_id", models.CharField(blank=True, max_length=16)),
                ("signature", models.BinaryField(max_length=64, null=True)),
                ("broken_at", models.BigIntegerField(null=True)),
                ("fault", models.CharField(blank=True, max_length=200)),
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
        ),
        migrations.AddConstraint(
            model_name="checkpoint",
            constraint=models.UniqueConstraint(fields=("account", "at"), name="checkpoint_at"),
        ),
        *tenant_table("accounts_checkpoint"),
        migrations.RunSQL(
            [f"REVOKE UPDATE, DELETE ON accounts_checkpoint FROM {APP_ROLE}"],
            [f"GRANT UPDATE, DELETE ON accounts_checkpoint TO {APP_ROLE}"],
        ),
    ]
