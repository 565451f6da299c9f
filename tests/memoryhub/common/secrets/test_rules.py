"""Each rule's own examples are its tests. Values are drawn here: none stands in the table."""

from random import Random

import pytest

from memoryhub.common.secrets import find
from memoryhub.common.secrets.rules import Rule, rules, worth_trying
from memoryhub.common.secrets.shapes import expand

DRAWS = 12


def each() -> pytest.MarkDecorator:
    return pytest.mark.parametrize("rule", rules(), ids=lambda rule: rule.name)


@each()
def test_a_rule_finds_the_secrets_of_its_examples(rule: Rule) -> None:
    for seed in range(DRAWS):
        for template in rule.real:
            text = expand(template, Random(seed))
            assert list(rule.find(text, text.encode(), int)), template
            assert rule in worth_trying(text.encode()), "its keywords or hint leave it untried"


@each()
def test_nothing_is_found_in_a_rules_harmless_examples(rule: Rule) -> None:
    for seed in range(DRAWS):
        for template in rule.harmless:
            assert find(expand(template, Random(seed))) == [], template


@each()
def test_a_rule_says_which_document_it_follows_and_has_two_examples_of_both_kinds(rule: Rule) -> None:
    assert rule.source.startswith(("https://", "docs/"))
    assert len(set(rule.real)) >= 2
    assert len(set(rule.harmless)) >= 2
    assert not any(word != word.lower() for word in rule.keywords)


def test_there_are_about_seventy_rules_of_different_names() -> None:
    names = [rule.name for rule in rules()]
    assert len(set(names)) == len(names) >= 70
