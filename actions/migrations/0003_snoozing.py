from django.db import migrations, models

from actions.migrations._sql import also_updatable


class Migration(migrations.Migration):
    dependencies = [("actions", "0002_connections")]

    operations = [
        migrations.AddField(
            model_name="action",
            name="snoozed_until",
            field=models.DateTimeField(blank=True, null=True),
        ),
        also_updatable("actions_action", ["snoozed_until"]),
    ]
