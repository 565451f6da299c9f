"""The one walk over all that is sent, before anything else sees it: secrets are cut out, or the call is refused."""

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

from accounts.actor import Actor
from memoryhub.common.errors import SecretRejected, ValidationFailed
from memoryhub.common.secrets import Cut, cut
from memoryhub.common.secrets.policy import check_always, check_policy
from memoryhub.common.sizes import Schemas, check_count, check_sizes
from memoryhub.common.tenancy import tenant
from spaces.domain.secrets import secret_policy

Check = Callable[[Cut], None]
ROWS = ("id", "artifact_id", "run_id")


def screened(
    actor: Actor,
    sent: Mapping[str, Any],
    schemas: Schemas,
    *,
    each: str,
    stores: bool,
    whole: bool,
    by_path: bool = False,
) -> Cut:
    """`sent` without its secrets, if it is no larger than its `schemas` allow.

    What is only read is cut and answered; what `stores` something is refused where the space wants it so. The members
    of the argument `each` are screened each by itself: one that is refused stands in its place as its refusal.
    `whole`: nothing in it may be altered. `by_path`: its `path` names the space, by a project.
    """
    check = partial(_check, actor, whole=whole, by_path=by_path) if stores or whole else _leave
    if each and isinstance(sent.get(each), list):
        return _each_by_itself(sent, schemas, each, check)
    check_sizes(sent, schemas)
    return _checked(sent, check)


def _checked(sent: Mapping[str, Any], check: Check) -> Cut:
    result = cut(sent)
    if result.categories:
        check(result)
    return result


def _each_by_itself(sent: Mapping[str, Any], schemas: Schemas, each: str, check: Check) -> Cut:
    beside = {name: value for name, value in sent.items() if name != each}
    check_sizes(beside, schemas)
    check_count(sent[each], schemas[each], each)
    members = schemas[each].get("items", {}).get("properties", {})
    result = _checked(beside, check)
    result.value[each] = []
    for item in sent[each]:
        try:
            told = item if isinstance(item, Mapping) else {each: item}
            check_sizes(told, members)
            found = _checked(told, check)
        except (SecretRejected, ValidationFailed) as refusal:
            result.value[each].append(refusal)
            continue
        result.value[each].append(found.value if isinstance(item, Mapping) else found.value[each])
        result.categories.update(found.categories)
    return result


def _leave(result: Cut) -> None:
    """A question is answered whatever was cut out of it."""


def _check(actor: Actor, result: Cut, *, whole: bool, by_path: bool) -> None:
    check_always(result, whole=whole)
    with tenant(actor.account_id):
        policy = secret_policy(actor, **_place(result.value, by_path))
    check_policy(result, policy)


def _place(sent: Mapping[str, Any], by_path: bool) -> dict[str, str]:
    """Where the call writes, if it says so: by a space, by a row that is there, or by the project of its path."""
    told = {
        "ref": sent.get("space_id"),
        "row": next((sent[name] for name in ROWS if sent.get(name)), None),
        "path": sent.get("path") if by_path else None,
    }
    return {name: value for name, value in told.items() if isinstance(value, str)}
