"""Reads PostgreSQL's own catalogue: a table that nobody thought of fails here."""

import pytest
from django.apps import apps
from django.db import connection, models

from accounts.models import Tenant

pytestmark = pytest.mark.django_db

GLOBAL = {
    "accounts_user": "people, before any account is known",
    "accounts_user_groups": "Django's own",
    "accounts_user_user_permissions": "Django's own",
    "accounts_account": "the bare row of an account",
    "accounts_membership": "who belongs where, read at sign-in",
    "accounts_invitation": "looked up by the hash of a link",
    "accounts_agentkey": "looked up by the hash of a key",
    "accounts_application": "OAuth clients",
    "accounts_grant": "looked up by the hash of a token",
    "accounts_job": "the outbox: ids and the account only",
    "hub_cache": "the cache",
    "spaces_embeddingmodel": "the models that vectors come from, the same for all",
    "auth_group": "Django's own",
    "auth_group_permissions": "Django's own",
    "auth_permission": "Django's own",
    "account_emailaddress": "allauth",
    "account_emailconfirmation": "allauth",
    "mfa_authenticator": "allauth: how people sign in, seeds sealed",
    "usersessions_usersession": "allauth: where people are signed in",
    "django_admin_log": "ids only: no model shows its text",
    "django_content_type": "Django's own",
    "django_migrations": "Django's own",
    "django_session": "sessions",
    "oauth2_provider_accesstoken": "OAuth tokens",
    "oauth2_provider_grant": "OAuth tokens",
    "oauth2_provider_idtoken": "OAuth tokens",
    "oauth2_provider_refreshtoken": "OAuth tokens",
    "oauth2_provider_devicegrant": "OAuth tokens",
}


def rows(sql: str) -> list[tuple[str, ...]]:
    with connection.cursor() as cursor:
        cursor.execute(sql)
        return list(cursor.fetchall())


def tables() -> set[str]:
    return {t for (t,) in rows("select tablename from pg_tables where schemaname = 'public'")}


def tenant_tables() -> set[str]:
    return tables() - set(GLOBAL)


def tenant_models() -> list[type[models.Model]]:
    return [m for m in apps.get_models() if issubclass(m, Tenant)]


def test_every_table_is_either_declared_global_or_belongs_to_a_tenant_model() -> None:
    assert tenant_tables() == {m._meta.db_table for m in tenant_models()}
    assert set(GLOBAL) <= tables()


def test_every_tenant_table_forces_row_level_security() -> None:
    forced = rows(
        "select relname from pg_class where relnamespace = 'public'::regnamespace"
        " and relkind = 'r' and relrowsecurity and relforcerowsecurity"
    )
    assert {t for (t,) in forced} == tenant_tables()


def test_every_tenant_table_has_one_policy_for_the_application_and_one_for_the_owner() -> None:
    setting = "NULLIF(current_setting('hub.account_id'::text, true), ''::text)"
    rule = f'(account_id = ( SELECT ({setting})::uuid AS "nullif"))'
    policies = set(
        rows(
            "select tablename, policyname, roles::text, cmd, qual, with_check from pg_policies"
            " where permissive = 'PERMISSIVE'"
        )
    )
    expected = {
        line
        for t in tenant_tables()
        for line in (
            (t, "tenant", "{hub_app}", "ALL", rule, rule),
            (t, "owner", "{hub_owner}", "ALL", "true", "true"),
        )
    }
    assert policies == expected


def test_every_unique_key_of_a_tenant_table_contains_the_account() -> None:
    loose = rows(
        """
        select i.indrelid::regclass::text, i.indexrelid::regclass::text from pg_index i
          join pg_class c on c.oid = i.indrelid
         where i.indisunique and c.relrowsecurity and c.relnamespace = 'public'::regnamespace
           and not exists (select 1 from pg_attribute a where a.attrelid = c.oid and a.attname = 'account_id'
                              and a.attnum = any(i.indkey))
        """
    )
    assert loose == []


def test_every_primary_key_of_a_tenant_table_is_account_and_id() -> None:
    keys = rows(
        """
        select c.conrelid::regclass::text, pg_get_constraintdef(c.oid) from pg_constraint c
          join pg_class t on t.oid = c.conrelid where c.contype = 'p' and t.relrowsecurity
        """
    )
    assert dict(keys) == dict.fromkeys(tenant_tables(), "PRIMARY KEY (account_id, id)")


def test_every_reference_between_tenant_tables_carries_the_account() -> None:
    loose = rows(
        """
        select c.conname from pg_constraint c
          join pg_class f on f.oid = c.confrelid join pg_class t on t.oid = c.conrelid
         where c.contype = 'f' and f.relrowsecurity and t.relrowsecurity
           and pg_get_constraintdef(c.oid) not like 'FOREIGN KEY (account_id, %'
        """
    )
    assert loose == []


def test_the_application_owns_nothing_and_bypasses_nothing() -> None:
    assert rows("select tablename from pg_tables where tableowner = 'hub_app'") == []
    assert rows("select rolsuper, rolbypassrls, rolcreaterole from pg_roles where rolname = 'hub_app'") == [
        (False, False, False)
    ]
    assert rows("select pg_has_role('hub_app', 'hub_owner', 'member')") == [(False,)]
