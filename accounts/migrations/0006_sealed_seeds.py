from django.db import migrations, models

# A sealed seed begins with the person it is bound to (accounts.domain.seeds).
BOUND = """
    ALTER TABLE mfa_authenticator ADD CONSTRAINT seed_of_its_person CHECK (
        coalesce(data->>'secret', data->>'seed') IS NULL
        OR coalesce(data->>'secret', data->>'seed') LIKE replace(user_id::text, '-', '') || '.v1.%'
    )
"""


class Migration(migrations.Migration):
    """No seed in clear, and none of another person; sessions that can be ended all at once."""

    dependencies = [
        ("accounts", "0005_grants"),
        ("mfa", "0003_authenticator_type_uniq"),
    ]

    operations = [
        migrations.AddField(
            model_name="user",
            name="session_epoch",
            field=models.PositiveIntegerField(
                default=0, editable=False, help_text="Sessions of an earlier one have ended"
            ),
        ),
        migrations.RunSQL(BOUND, "ALTER TABLE mfa_authenticator DROP CONSTRAINT seed_of_its_person"),
    ]
