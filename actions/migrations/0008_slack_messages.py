from django.db import migrations, models

PERSON = ["account", "action", "user", "about"]


class Migration(migrations.Migration):
    dependencies = [("actions", "0007_webhook_letters")]

    operations = [
        migrations.RemoveConstraint("notice", "one_notice_a_person"),
        migrations.RemoveIndex("notice", "notices_of_person"),
        migrations.RenameField("notice", "mailed_at", "told_at"),
        migrations.AddField(
            "notice",
            "way",
            models.CharField(choices=[("mail", "mail"), ("slack", "slack")], default="mail", max_length=5),
        ),
        migrations.AddField("notice", "in_doubt", models.BooleanField(default=False)),
        migrations.AddConstraint(
            "notice", models.UniqueConstraint(fields=[*PERSON, "way"], name="one_notice_a_person")
        ),
        migrations.AddIndex(
            "notice", models.Index(fields=["account", "user", "way", "told_at"], name="notices_of_person")
        ),
        migrations.AddField("mailchoice", "slack", models.BooleanField(default=False)),
        migrations.AddField("mailchoice", "slack_trouble", models.CharField(blank=True, max_length=80)),
    ]
