from django.db import migrations, models


class Migration(migrations.Migration):
    """A link may be kept for the person whose address was named with it."""

    dependencies = [("accounts", "0008_unproven_addresses")]

    operations = [
        migrations.AddField(
            model_name="invitation",
            name="claimed_for",
            field=models.EmailField(
                blank=True,
                default="",
                editable=False,
                help_text="Only who signs in with this address can still use it",
                max_length=254,
            ),
            preserve_default=False,
        )
    ]
