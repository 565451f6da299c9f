import django.db.models.deletion
from django.conf import settings
from django.db import migrations, models

import memoryhub.common.ids
from memoryhub.common.tenancy import tenant_table

CASCADE = django.db.models.deletion.CASCADE


class Migration(migrations.Migration):
    dependencies = [
        ("actions", "0006_notices"),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        migrations.CreateModel(
            name="WebhookLetter",
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
                ("account", models.ForeignKey("accounts.account", CASCADE, db_index=False, related_name="+")),
                (
                    "webhook",
                    models.ForeignKey(
                        "actions.webhook",
                        CASCADE,
                        db_constraint=False,
                        db_index=False,
                        related_name="letters",
                    ),
                ),
                ("user", models.ForeignKey(settings.AUTH_USER_MODEL, CASCADE, related_name="+")),
                ("since", models.DateTimeField()),
                ("trouble", models.CharField(max_length=80)),
                ("created_at", models.DateTimeField()),
                ("told_at", models.DateTimeField(blank=True, null=True)),
            ],
            options={
                "indexes": [
                    models.Index(fields=["account", "webhook", "told_at"], name="letters_about_webhook")
                ],
            },
        ),
        *tenant_table("actions_webhookletter", [("webhook_id", "actions_webhook", "CASCADE")]),
    ]
