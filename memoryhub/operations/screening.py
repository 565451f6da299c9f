"""The one walk over all that is sent, before anything else sees it: secrets are cut out, or the call is refused."""

from collections.abc import Mapping
from typing import Any

from accounts.actor import Actor
from memoryhub.common.errors import SecretRejected
from memoryhub.common.secrets import Cut, cut
from memoryhub.common.secrets.policy import check_always, check_policy
from memoryhub.common.tenancy import tenant
from spaces.domain.secrets import secret_policy


def screened(actor: Actor, sent: Mapping[str, Any], *, each: str, stores: bool, whole: bool) -> Cut:
    """`sent` without its secrets. What is only read is cut and answered; what `stores` something is refused where
    the space wants it so. The members of the argument `each` are screened each by itself: one that is refused
    stands in its place as its refusal. `whole`: nothing in it may be altered.
    """
    if each and isinstance(sent.get(each), list):
        return _each_by_itself(actor, sent, each)
    result = cut(sent)
    if result.categories and (stores or whole):
        check_always(result, whole=whole)
        check_policy(result, _policy(actor, result.value))
    return result


def _each_by_itself(actor: Actor, sent: Mapping[str, Any], each: str) -> Cut:
    result = cut({name: value for name, value in sent.items() if name != each})
    result.value[each] = []
    for item in sent[each]:
        try:
            screened_item = screened(actor, {"item": item}, each="", stores=True, whole=False)
        except SecretRejected as refusal:
            result.value[each].append(refusal)
            continue
        result.value[each].append(screened_item.value["item"])
        result.categories.update(screened_item.categories)
    return result


def _policy(actor: Actor, sent: Mapping[str, Any]) -> str:
    with tenant(actor.account_id):
        return secret_policy(actor, _space(sent))


def _space(sent: Mapping[str, Any]) -> str | None:
    """Where the call writes, if it says so: by an id, or by a path below its project."""
    named, path = sent.get("space_id"), sent.get("path")
    if isinstance(named, str) and named:
        return named
    if isinstance(path, str) and path.lower().startswith("projects/"):
        return path.lower().split("/")[1]
    return None
