import django.contrib.postgres.fields
from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("spaces", "0006_metadata_and_auto_context")]

    operations = [
        migrations.AddField(
            model_name="space",
            name="secret_policy",
            field=models.CharField(
                choices=[
                    ("redact", "Cut secrets out"),
                    ("reject", "Refuse what holds one"),
                    ("quarantine", "Cut them out and hold memories for review"),
                ],
                default="redact",
                max_length=10,
            ),
        ),
        migrations.AddField(
            model_name="memory",
            name="held_for",
            field=django.contrib.postgres.fields.ArrayField(
                base_field=models.CharField(max_length=20), blank=True, default=list, size=None
            ),
        ),
    ]
