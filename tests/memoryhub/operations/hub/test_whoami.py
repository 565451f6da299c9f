from accounts.scopes import Scope
from memoryhub.common.tenancy import tenant
from spaces.domain.spaces import create_space
from spaces.models import Space, SpaceMember
from tests.calls import call, queries
from tests.conftest import Cast


def space(cast: Cast, name: str, **fields: str) -> Space:
    with tenant(cast.account.id):
        return create_space(cast.owner, name=name, **fields)


def test_a_key_learns_where_it_is_and_what_it_may(cast: Cast) -> None:
    key = cast.key(scopes=frozenset({Scope.SPACE_READ, Scope.MEMORY_READ}), families=frozenset({"hub"}))
    answer = call(key, "whoami")
    main = {"id": f"spc_{cast.space.id.hex}", "slug": "main", "name": "Main"}
    assert answer["account"] == {"id": f"acc_{cast.account.id.hex}", "slug": "acme", "name": "Acme"}
    assert answer["credential"].pop("expires_at").endswith("Z")
    assert answer["credential"] == {
        "kind": "key",
        "id": f"key_{cast.agent.key_id.hex}" if cast.agent.key_id else "",
        "name": "agent",
        "profile": "generic",
    }
    assert (answer["role"], answer["scopes"], answer["families"]) == (
        "member",
        ["memory:read", "space:read"],
        ["hub"],
    )
    assert (answer["space"], answer["spaces"]) == (main, [main | {"role": "member"}])


def test_no_scope_is_needed(cast: Cast) -> None:
    assert call(cast.key(scopes=frozenset()), "whoami")["scopes"] == []


def test_spaces_are_listed_by_name_with_the_role_in_each(cast: Cast) -> None:
    space(cast, "Archive")
    space(cast, "Hidden", visibility="members")
    named = space(cast, "Named", visibility="members")
    with tenant(cast.account.id):
        SpaceMember.objects.create(
            account_id=cast.account.id, space=named, user_id=cast.teammate.user_id, role="viewer"
        )

    def roles(who: str) -> dict[str, str]:
        return {s["slug"]: s["role"] for s in call(getattr(cast, who), "whoami")["spaces"]}

    assert roles("agent") == {"archive": "member", "main": "member", "named": "viewer"}
    assert roles("viewer") == {"archive": "viewer", "main": "viewer"}
    assert list(roles("owner")) == ["archive", "hidden", "main", "named"]
    assert set(roles("outsider")) == {"main"}


def test_the_header_names_the_space_in_which_calls_work(cast: Cast) -> None:
    space(cast, "Archive")
    assert call(cast.agent.in_space("archive"), "whoami")["space"]["slug"] == "archive"
    assert "space" not in call(cast.agent.in_space("nowhere"), "whoami")


def test_it_takes_as_many_queries_with_three_spaces_as_with_one(cast: Cast) -> None:
    one = queries(lambda: call(cast.agent, "whoami"))
    space(cast, "Archive"), space(cast, "Plans")
    assert queries(lambda: call(cast.agent, "whoami")) == one
