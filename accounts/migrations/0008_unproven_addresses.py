from django.db import migrations

UNPROVEN = "UPDATE account_emailaddress SET verified = false WHERE verified"


class Migration(migrations.Migration):
    """Of no address it is known any more whether a letter had proven it, as all were taken for proven."""

    dependencies = [
        ("accounts", "0007_rotated_keys"),
        ("account", "0009_emailaddress_unique_primary_email"),
    ]

    operations = [migrations.RunSQL(UNPROVEN, migrations.RunSQL.noop)]
