from django.db import migrations, models


class Migration(migrations.Migration):
    """A key knows the one it was rotated into."""

    dependencies = [("accounts", "0006_sealed_seeds")]

    operations = [
        migrations.AddField(
            model_name="agentkey",
            name="replaced_by_id",
            field=models.UUIDField(editable=False, help_text="The key it was rotated into", null=True),
        )
    ]
