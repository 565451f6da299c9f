from django.db import migrations, models

from actions.migrations._sql import also_updatable


class Migration(migrations.Migration):
    dependencies = [("actions", "0004_policies")]

    operations = [
        migrations.AddField("connection", "signed_in", models.BooleanField(default=False)),
        migrations.AddField("connection", "expires_at", models.DateTimeField(blank=True, null=True)),
        migrations.AddField("connection", "generation", models.PositiveIntegerField(default=0)),
        migrations.AddField("connection", "renewing_until", models.DateTimeField(blank=True, null=True)),
        migrations.AddField("connection", "broken", models.BooleanField(default=False)),
        migrations.AddField("connection", "used_at", models.DateTimeField(blank=True, null=True)),
        also_updatable(
            "actions_connection", ["expires_at", "generation", "renewing_until", "broken", "used_at"]
        ),
    ]
