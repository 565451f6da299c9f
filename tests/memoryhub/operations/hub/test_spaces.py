from typing import Any

import pytest

from accounts.models import Event
from accounts.scopes import PRESETS, Scope
from memoryhub.common.tenancy import tenant
from spaces.models import Space, SpaceMember
from tests.calls import call, fields, refused
from tests.conftest import Cast


def settings(cast: Cast, **changes: Any) -> dict[str, Any]:
    return call(cast.owner, "space_update", **changes)["space"]


def test_a_space_shows_its_settings(cast: Cast) -> None:
    space = call(cast.agent, "space_get")["space"]
    assert space.pop("id").startswith("spc_")
    assert space.pop("created_at").endswith("Z")
    assert space == {
        "slug": "main",
        "name": "Main",
        "timezone": "UTC",
        "visibility": "account",
        "scratch_days": 7,
        "closed_statuses": {},
        "secret_policy": "redact",
        "capture_mode": "off",
        "actions_paused": False,
        "dream": {"mode": "off", "review": False, "interval_hours": 24},
        "version": 1,
    }


def test_settings_are_changed_one_by_one(cast: Cast) -> None:
    assert settings(cast, timezone="America/Bogota")["version"] == 2
    changed = settings(cast, name="Plans", description="What we plan", scratch_days=14)
    assert (changed["name"], changed["timezone"], changed["version"]) == ("Plans", "America/Bogota", 3)
    assert "description" not in settings(cast, description="")
    assert call(cast.agent, "space_get")["space"] == settings(cast)


def test_what_changes_nothing_raises_no_version_and_is_no_event(cast: Cast) -> None:
    settings(cast, name="Plans", closed_statuses={"leads": ["won"]})
    assert settings(cast, name="Plans", closed_statuses={"leads": ["won"]})["version"] == 2
    with tenant(cast.account.id):
        assert Event.objects.filter(type="settings.updated").count() == 1


def test_a_stale_change_of_settings_is_a_conflict(cast: Cast) -> None:
    settings(cast, name="Plans", expected_version=1)
    error = refused(cast.owner, "space_update", name="Other", expected_version=1)
    assert (error["code"], error["details"]["current"]) == ("conflict", {"version": 2})


@pytest.mark.parametrize(
    ("changes", "field"),
    [
        ({"timezone": "Mars/Olympus"}, "timezone"),
        ({"timezone": "null"}, "timezone"),
        ({"timezone": ""}, "timezone"),
        ({"name": ""}, "name"),
        ({"name": "\u200b"}, "name"),
        ({"name": "x" * 121}, "name"),
        ({"description": "x" * 1001}, "description"),
        ({"scratch_days": 0}, "scratch_days"),
        ({"secret_policy": "keep"}, "secret_policy"),
        ({"scratch_days": 366}, "scratch_days"),
        ({"closed_statuses": {"Leads": ["won"]}}, "closed_statuses"),
        ({"closed_statuses": {"leads": ["Won!"]}}, "closed_statuses.leads"),
    ],
)
def test_what_is_out_of_form_is_refused_by_name(cast: Cast, changes: dict[str, Any], field: str) -> None:
    error = refused(cast.owner, "space_update", **changes)
    assert (error["code"], fields(error)) == ("validation_failed", [field])


def test_settings_need_the_scope_and_the_right_to_manage(cast: Cast) -> None:
    assert call(cast.admin, "space_update", name="Plans")
    for actor in (cast.agent, cast.teammate, cast.approver, cast.viewer):
        assert refused(actor, "space_update", name="Mine")["code"] == "forbidden"
    owners_agent = cast.key(role=cast.owner.role, user_id=cast.owner.user_id, scopes=PRESETS["agent"])
    missing = refused(owners_agent, "space_update", name="Mine")
    assert missing["details"] == {"missing_scopes": [str(Scope.SPACE_ADMIN)]}


def test_the_header_names_the_space(cast: Cast) -> None:
    with tenant(cast.account.id):
        Space.objects.create(account_id=cast.account.id, name="Hidden", slug="hidden", visibility="members")
    assert call(cast.owner.in_space("hidden"), "space_get")["space"]["slug"] == "hidden"
    for ref in ("hidden", "nowhere", "spc_" + cast.outsider_space.id.hex):
        assert refused(cast.agent.in_space(ref), "space_get") == {
            "code": "not_found",
            "message": "No space with this id that you may read.",
        }


def test_a_role_in_a_space_narrows_what_one_may_do_there(cast: Cast) -> None:
    with tenant(cast.account.id):
        SpaceMember.objects.create(
            account_id=cast.account.id, space=cast.space, user_id=cast.teammate.user_id, role="viewer"
        )
    assert refused(cast.agent, "kv_set", ns="n", key="k", value=1)["code"] == "forbidden"
    assert call(cast.agent, "kv_get", ns="n")["entries"] == []
