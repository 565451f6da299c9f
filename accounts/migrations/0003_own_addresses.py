from django.db import migrations

JOINED_WITH = """
    INSERT INTO account_emailaddress (user_id, email, verified, "primary")
    SELECT id, email, true, true FROM accounts_user
    ON CONFLICT (user_id, email) DO UPDATE SET verified = true, "primary" = true
"""


class Migration(migrations.Migration):
    """Everybody's address is known to what changes addresses."""

    dependencies = [
        ("accounts", "0002_job_lanes"),
        ("account", "0009_emailaddress_unique_primary_email"),
    ]

    operations = [migrations.RunSQL(JOINED_WITH, migrations.RunSQL.noop)]
