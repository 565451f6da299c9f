import django.db.models.deletion
from django.conf import settings
from django.db import migrations, models

import memoryhub.common.ids
from memoryhub.common.tenancy import tenant_table

SPACE = ("space_id", "spaces_space", "CASCADE")


def row_id() -> tuple[str, models.Field]:
    field = models.UUIDField(
        default=memoryhub.common.ids.new_id, editable=False, primary_key=True, serialize=False
    )
    return ("id", field)


def account() -> tuple[str, models.Field]:
    cascade = django.db.models.deletion.CASCADE
    return ("account", models.ForeignKey("accounts.account", cascade, db_index=False, related_name="+"))


def inside(name: str, to: str, related_name: str = "+", null: bool = False) -> tuple[str, models.Field]:
    """A reference to another row of the account; the database's own carries the account."""
    field = models.ForeignKey(
        to,
        django.db.models.deletion.CASCADE,
        null=null,
        blank=null,
        db_constraint=False,
        db_index=False,
        related_name=related_name,
    )
    return (name, field)


def person(on_delete: object = django.db.models.deletion.CASCADE) -> models.Field:
    return models.ForeignKey(settings.AUTH_USER_MODEL, on_delete, related_name="+")


def moment() -> models.Field:
    return models.DateTimeField(blank=True, null=True)


def one_of(*values: str, **options: object) -> models.Field:
    return models.CharField(choices=[(value, value) for value in values], **options)


class Migration(migrations.Migration):
    dependencies = [
        ("accounts", "0007_rotated_keys"),
        ("actions", "0005_signing_in"),
        ("spaces", "0013_words_of_a_space"),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        migrations.CreateModel(
            name="Webhook",
            fields=[
                row_id(),
                account(),
                inside("space", "spaces.space", null=True),
                ("name", models.CharField(max_length=120)),
                ("host", models.CharField(max_length=260)),
                ("events", models.JSONField(default=list)),
                ("sealed", models.TextField(editable=False)),
                ("former_until", moment()),
                ("off", one_of("by_hand", "failing", "gone", blank=True, max_length=7)),
                ("failing_since", moment()),
                ("rests_until", moment()),
                ("made_by", person(django.db.models.deletion.PROTECT)),
                ("created_at", models.DateTimeField()),
                ("updated_at", models.DateTimeField()),
            ],
        ),
        migrations.CreateModel(
            name="Delivery",
            fields=[
                row_id(),
                account(),
                inside("webhook", "actions.webhook", "deliveries"),
                inside("space", "spaces.space", null=True),
                ("event", models.CharField(max_length=48)),
                ("body", models.TextField()),
                ("state", one_of("pending", "delivered", "failed", default="pending", max_length=9)),
                ("tries", models.PositiveSmallIntegerField(default=0)),
                ("status", models.PositiveSmallIntegerField(blank=True, null=True)),
                ("trouble", models.CharField(blank=True, max_length=80)),
                ("since", models.DateTimeField()),
                ("created_at", models.DateTimeField()),
                ("tried_at", moment()),
                ("again_at", moment()),
            ],
            options={
                "indexes": [
                    models.Index(
                        fields=["account", "webhook", "-created_at", "-id"], name="deliveries_of_webhook"
                    )
                ],
            },
        ),
        migrations.CreateModel(
            name="Notice",
            fields=[
                row_id(),
                account(),
                inside("space", "spaces.space"),
                inside("action", "actions.action"),
                ("user", person()),
                ("about", one_of("decide", "settle", max_length=6)),
                ("urgent", models.BooleanField(default=False)),
                ("created_at", models.DateTimeField()),
                ("mailed_at", moment()),
            ],
            options={
                "indexes": [models.Index(fields=["account", "user", "mailed_at"], name="notices_of_person")],
                "constraints": [
                    models.UniqueConstraint(
                        fields=("account", "action", "user", "about"), name="one_notice_a_person"
                    )
                ],
            },
        ),
        migrations.CreateModel(
            name="MailChoice",
            fields=[
                row_id(),
                account(),
                ("user", person()),
                ("mode", one_of("risky", "each", "gathered", "none", default="risky", max_length=8)),
                (
                    "hours",
                    models.PositiveSmallIntegerField(default=1, help_text="For which other news is gathered"),
                ),
            ],
            options={
                "constraints": [
                    models.UniqueConstraint(fields=("account", "user"), name="one_mail_choice_a_person")
                ],
            },
        ),
        *tenant_table("actions_webhook", [SPACE]),
        *tenant_table("actions_delivery", [SPACE, ("webhook_id", "actions_webhook", "CASCADE")]),
        *tenant_table("actions_notice", [SPACE, ("action_id", "actions_action", "CASCADE")]),
        *tenant_table("actions_mailchoice"),
    ]
