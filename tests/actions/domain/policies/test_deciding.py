"""What rules say, against a reference that is written as the words are: slowly, and without the code's helpers."""

import random
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID

import pytest

from actions.domain.policies.conditions import BY_CLASS, check_conditions, satisfies, touches
from actions.domain.policies.deciding import Used, Verdict, decide
from actions.models import Policy
from memoryhub.common.errors import ValidationFailed

NOW = datetime(2026, 3, 2, tzinfo=UTC)
CASES = 20_000
CLASSES = [
    "slack.send",
    "gmail.reply",
    "calendar.create",
    "github.create_issue",
    "notion.create_page",
    "deploy",
]


def random_payload(draw: random.Random, name: str) -> dict[str, Any]:
    def some(*values: Any) -> list[Any]:
        return draw.sample(values, draw.randint(0, len(values)))

    text = "x" * draw.choice([0, 3, 10])
    return {
        "slack.send": {"channel": draw.choice(["C1", "C2"]), "channel_name": "#a", "text": text,
                       "mentions": some("here")},
        "gmail.reply": {"to": some("a@acme.example", "b@evil.example", "e@mail.acme.example"),
                        "cc": some("c@ACME.example", "d@xn--bcher-kva.example", "B+x@evil.example"), "body": text},
        "calendar.create": {"start": "2026-05-27T12:00:00+00:00",
                            "end": draw.choice(["2026-05-27T12:30:00+00:00", "2026-05-27T14:00:00+00:00"]),
                            "attendees": some("a@acme.example", "b@evil.example", "e@mail.acme.example"),
                            "calendar_id": draw.choice(["primary", "b@evil.example"]), "notify": draw.random() < 0.5},
        "github.create_issue": {"repo": draw.choice(["o/a", "o/b"]), "title": draw.choice(["t", "ask @ann"]),
                                "body": text, "assignees": some("ann")},
        "notion.create_page": {"parent_id": draw.choice(["p1", "p2"]), "children": [{}] * draw.randint(0, 4)},
        "deploy": {"service": draw.choice(["web", "api"])},
    }[name]  # fmt: skip


def random_conditions(draw: random.Random, name: str, payload: dict[str, Any]) -> dict[str, Any]:
    offered = {
        "slack.send": {"channels": ["C1", "#a"][: draw.randint(1, 2)], "max_length": 5, "no_mentions": True},
        "gmail.reply": {"domains": some_domains(draw), "recipients": some_people(draw), "max_length": 5},
        "calendar.create": {
            "domains": some_domains(draw),
            "recipients": some_people(draw),
            "max_minutes": 60,
            "no_mail": True,
        },
        "github.create_issue": {"repositories": ["o/a"], "max_length": 5, "no_mentions": True},
        "notion.create_page": {"parents": ["p1"], "max_blocks": 2},
        "deploy": {},
    }[name]
    pins = {key: payload[key] for key in draw.sample(sorted(payload), draw.randint(0, 1))}
    chosen = {key: offered[key] for key in draw.sample(sorted(offered), draw.randint(0, len(offered)))}
    return {**chosen, **({"payload": pins} if pins else {})}


def some_domains(draw: random.Random) -> list[str]:
    named = [
        "acme.example",
        "*.acme.example",
        "Evil.Example.",
        "@acme.example",
        "BÜCHER.example",
        "other.example",
    ]
    return draw.sample(named, draw.randint(1, 3))


def some_people(draw: random.Random) -> list[str]:
    return draw.sample(["A@acme.example", "b@evil.example", "d@bücher.example"], draw.randint(1, 3))


def random_rules(draw: random.Random) -> list[Policy]:
    rules = []
    for n in range(draw.randint(0, 6)):
        name = draw.choice([*CLASSES, ""])
        effect = draw.choice(["deny", "require", "auto"])
        conditions = random_conditions(draw, name, random_payload(draw, name)) if name else {}
        rules.append(
            Policy(
                name=str(n), effect=effect, class_name=name, conditions=conditions, approvals=draw.randint(1, 3),
                per_hour=draw.choice([None, 0, 1, 5]), per_day=draw.choice([None, 2, 10]),
                created_at=NOW + timedelta(seconds=draw.randint(0, 3)),
            )
        )  # fmt: skip
    return rules


def holds(payload: dict[str, Any], name: str, wanted: Any, *, effect: str) -> bool:
    """Each condition in its own words. What approves needs all to be so; what denies or asks, any."""
    wide = effect != "auto"
    if name == "payload":
        lists = {key for key, value in wanted.items() if wide and isinstance(value, list) and value}
        common = all([entry for entry in wanted[key] if entry in payload[key]] for key in lists)
        return common and all(payload.get(key) == wanted[key] for key in wanted.keys() - lists)
    if name == "channels":
        return payload["channel"] in wanted or payload["channel_name"] in wanted
    if name == "repositories":
        return payload["repo"] in wanted
    if name == "parents":
        return payload["parent_id"] in wanted
    if name == "max_length":
        return len(payload["text"] if "text" in payload else payload["body"]) <= wanted
    if name == "max_blocks":
        return len(payload["children"]) <= wanted
    if name == "max_minutes":
        start, end = (datetime.fromisoformat(payload[edge]) for edge in ("start", "end"))
        return end - start <= timedelta(minutes=wanted)
    if name == "no_mail":
        return payload["notify"] is False
    if name == "no_mentions" and "mentions" in payload:
        return payload["mentions"] == []
    if name == "no_mentions":
        return "@" not in payload["title"] + payload["body"] and payload["assignees"] == []
    people = payload["attendees"] if "attendees" in payload else payload["to"] + payload["cc"]
    if wide and payload.get("calendar_id", "primary") != "primary":
        people = [*people, payload["calendar_id"]]
    meant = [person for person in people if any(means(one, person.lower(), wide=wide) for one in wanted)]
    if wide:
        return meant != []
    return len(meant) == len(people) and (people != [] or "attendees" in payload)


def means(named: str, person: str, *, wide: bool) -> bool:
    """Whether what a rule names is this person, or their domain."""
    named = named.lower().strip("@.").replace("bücher", "xn--bcher-kva")
    if "@" in named:
        return named == (person.replace("+x", "") if wide else person)
    domain = named.replace("*.", "")
    itself, below = person.endswith("@" + domain), person.endswith("." + domain)
    if wide:
        return itself or below
    return below if named.startswith("*.") else itself


def reference(
    rules: list[Policy], name: str, payload: dict[str, Any], used: dict[Any, Used]
) -> tuple[Any, ...]:
    """Deny, then require, then auto; of each the oldest first; without any, one person. Of those that ask, one that
    matches in part leaves the word to later ones that ask more people."""
    for effect in ("deny", "require", "auto"):
        same = [rule for rule in rules if rule.effect == effect and rule.class_name in ("", name)]
        asking: list[Policy] = []
        for rule in sorted(same, key=lambda rule: (rule.created_at, rule.id)):
            conditions = rule.conditions.items()
            if not all(holds(payload, key, value, effect=effect) for key, value in conditions):
                continue
            if effect == "auto":
                hour, day = used[rule.id].hour, used[rule.id].day
                over = (rule.per_hour is not None and hour >= rule.per_hour) or (
                    rule.per_day is not None and day >= rule.per_day
                )
                return ("require" if over else "auto", rule.name, 1, over)
            if effect == "deny":
                return ("deny", rule.name, 1, False)
            asking.append(rule)
            if all(holds(payload, key, value, effect="auto") for key, value in conditions):
                break
        if asking:
            most = max(rule.approvals for rule in asking)
            return ("require", next(rule.name for rule in asking if rule.approvals == most), most, False)
    return ("require", None, 1, False)


def told(verdict: Verdict) -> tuple[Any, ...]:
    return (str(verdict.effect), verdict.rule.name if verdict.rule else None, verdict.approvals, verdict.over)


def test_rules_decide_as_the_reference_does_in_20_000_random_cases() -> None:
    draw = random.Random(7)
    seen: dict[str, int] = {}
    for _ in range(CASES):
        rules, name = random_rules(draw), draw.choice(CLASSES)
        payload = random_payload(draw, name)
        used = {rule.id: Used(draw.randint(0, 6), draw.randint(0, 12)) for rule in rules}
        expected = reference(rules, name, payload, used)
        assert told(decide(rules, name, payload, used)) == expected
        kind = f"{expected[0]} over" if expected[3] else expected[0]
        seen[kind] = seen.get(kind, 0) + 1
    assert set(seen) == {"deny", "require", "require over", "auto"}
    print(f"{CASES} cases against the reference, {seen}: all equal")


def mail(*to: str, cc: tuple[str, ...] = ()) -> dict[str, Any]:
    return {"to": list(to), "cc": list(cc), "body": "Yes"}


INSIDE, OUTSIDE = "ann@acme.example", "bob@evil.example"
DENIED: dict[str, Any] = {"domains": ["evil.example"]}


@pytest.mark.parametrize(
    "payload",
    [
        mail(OUTSIDE),
        mail(INSIDE, OUTSIDE),
        mail(OUTSIDE, INSIDE),
        mail(INSIDE, cc=(OUTSIDE,)),
        mail("bob@EVIL.Example"),
        mail("bob@mail.evil.example"),
        mail(INSIDE, cc=("bob@a.b.evil.example",)),
    ],
)
def test_a_denied_domain_is_denied_whoever_is_beside_it_and_whatever_is_before_it(
    payload: dict[str, Any],
) -> None:
    rule = Policy(effect="deny", class_name="gmail.reply", conditions=DENIED, created_at=NOW)
    assert decide([rule], "gmail.reply", payload, {}).effect == "deny"


@pytest.mark.parametrize("domain", ["notevil.example", "evil.example.org", "example", "vil.example"])
def test_a_domain_that_only_looks_like_a_denied_one_is_not_meant(domain: str) -> None:
    assert not touches("gmail.reply", mail(f"bob@{domain}"), DENIED)


@pytest.mark.parametrize(
    "spelt",
    ["BÜCHER.example", "xn--bcher-kva.example", "XN--BCHER-KVA.example", "bücher。example", "bu\u0308cher.example",
     "@bücher.example", "bücher.example.", "ｂücher.example"],
)  # fmt: skip
def test_a_domain_is_the_same_in_every_spelling(spelt: str) -> None:
    for read in (satisfies, touches):
        assert read("gmail.reply", mail("ann@xn--bcher-kva.example"), {"domains": [spelt]})


def test_what_is_approved_by_itself_goes_to_nobody_else_and_to_no_domain_below() -> None:
    named = {"domains": ["acme.example"]}
    assert satisfies("gmail.reply", mail(INSIDE, "eve@ACME.example"), named)
    for payload in (
        mail(INSIDE, OUTSIDE),
        mail(INSIDE, cc=(OUTSIDE,)),
        mail("ann@mail.acme.example"),
        mail(),
    ):
        assert not satisfies("gmail.reply", payload, named)
    below = {"domains": ["*.acme.example"]}
    assert satisfies("gmail.reply", mail("ann@mail.acme.example"), below)
    assert not satisfies("gmail.reply", mail(INSIDE), below)


@pytest.mark.parametrize(
    "reached", [mail(INSIDE, "BOB@evil.example"), mail(INSIDE, cc=("bob+list@evil.example",))]
)
def test_a_denied_person_is_denied_beside_others_and_under_a_tag(reached: dict[str, Any]) -> None:
    assert touches("gmail.reply", reached, {"recipients": [OUTSIDE]})
    assert touches("gmail.reply", mail(INSIDE, OUTSIDE), {"payload": {"to": [OUTSIDE]}})
    assert not satisfies("gmail.reply", reached, {"recipients": [OUTSIDE]})
    assert satisfies("gmail.reply", mail(OUTSIDE, INSIDE), {"recipients": [INSIDE, OUTSIDE]})


def test_a_calendar_of_somebody_denied_is_denied_and_an_event_without_guests_is_not() -> None:
    assert touches("calendar.create", {"attendees": [], "calendar_id": OUTSIDE}, DENIED)
    assert not touches("calendar.create", {"calendar_id": "primary"}, DENIED)
    assert satisfies("calendar.create", {"calendar_id": "primary"}, {"domains": ["acme.example"]})


def test_a_denied_channel_is_denied_in_any_case_and_an_id_is_no_name() -> None:
    named = {"channel": "C9", "channel_name": "#c0launch01", "text": "x"}
    assert touches("slack.send", named, {"channels": ["#C0Launch01"]})
    assert not satisfies("slack.send", named, {"channels": ["C0LAUNCH01"]})


def test_who_is_asked_for_one_recipient_does_not_free_the_other() -> None:
    def asking(people: int, **conditions: Any) -> Policy:
        return Policy(effect="require", class_name="gmail.reply", approvals=people, conditions=conditions,
                      created_at=NOW + timedelta(seconds=people))  # fmt: skip

    rules = [asking(1, domains=["acme.example"]), asking(3)]
    assert decide(rules, "gmail.reply", mail(INSIDE), {}).approvals == 1
    verdict = decide(rules, "gmail.reply", mail(INSIDE, OUTSIDE), {})
    assert (verdict.approvals, [step.outcome for step in verdict.trace]) == (3, ["in part", "matched"])


@pytest.mark.parametrize(
    ("name", "value"),
    [("domains", ["ann@acme.example"]), ("domains", ["acme example"]), ("domains", ["*"]), ("domains", [" "]),
     ("recipients", ["acme.example"]), ("recipients", ["@acme.example"]), ("recipients", ["ann@"])],
)  # fmt: skip
def test_a_name_that_could_never_be_met_is_refused(name: str, value: list[str]) -> None:
    with pytest.raises(ValidationFailed) as refusal:
        check_conditions("gmail.reply", {name: value})
    assert list(refusal.value.fields) == [f"conditions.{name}"]


def test_the_trace_names_every_rule_and_what_came_of_it() -> None:
    rules = [
        Policy(name="other", effect="deny", class_name="deploy", created_at=NOW),
        Policy(name="not so", effect="deny", class_name="slack.send", conditions={"channels": ["C9"]},
               created_at=NOW + timedelta(1)),
        Policy(name="two", effect="require", class_name="", approvals=2, created_at=NOW),
        Policy(name="auto", effect="auto", class_name="slack.send", created_at=NOW),
    ]  # fmt: skip
    verdict = decide(rules, "slack.send", {"channel": "C1", "text": "x"}, {})
    assert [(s.rule.name, s.outcome) for s in verdict.trace] == [
        ("other", "other class"), ("not so", "conditions"), ("two", "matched"), ("auto", "not reached"),
    ]  # fmt: skip
    assert (verdict.effect, verdict.approvals) == ("require", 2)


@pytest.mark.parametrize("name", BY_CLASS)
def test_a_condition_of_another_class_never_holds(name: str) -> None:
    assert satisfies(name, {}, {"unheard_of": True}) is False
    with pytest.raises(ValidationFailed) as refusal:
        check_conditions(name, {"unheard_of": True})
    assert list(refusal.value.fields) == ["conditions.unheard_of"]


@pytest.mark.parametrize(
    "value",
    [[], "x", ["", "x"], [1], {"a": 1}, None, True, ["x"] * 101, ["x" * 301]],
)
def test_names_are_a_list_of_names(value: Any) -> None:
    with pytest.raises(ValidationFailed):
        check_conditions("slack.send", {"channels": value})


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("max_length", -1),
        ("max_length", True),
        ("max_length", "5"),
        ("no_mentions", False),
        ("no_mentions", 1),
        ("payload", {}),
        ("payload", []),
    ],
)
def test_other_conditions_are_typed_too(name: str, value: Any) -> None:
    with pytest.raises(ValidationFailed):
        check_conditions("slack.send", {name: value})


@pytest.mark.parametrize(
    ("name", "conditions", "payload"),
    [("github.create_issue", {"repositories": ["acme/Prod"]}, {"repo": "ACME/prod"}),
     ("notion.create_page", {"parents": ["A" * 32]}, {"parent_id": str(UUID("a" * 32))}),
     ("slack.send", {"channels": ["general"]}, {"channel": "C0LAUNCH01", "channel_name": "#general"}),
     ("slack.send", {"channels": ["C0LAUNCH01"]}, {"channel": "C0LAUNCH01", "channel_name": "#general"})],
)  # fmt: skip
def test_a_rule_is_not_passed_by_under_another_spelling_of_the_same_name(
    name: str, conditions: dict[str, Any], payload: dict[str, Any]
) -> None:
    assert satisfies(name, payload, conditions)
