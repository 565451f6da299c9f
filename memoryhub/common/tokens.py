"""How much of a model's attention a text takes, near enough to keep to a budget without the model's own tokenizer."""

CHARACTERS_A_TOKEN = 4


def tokens_in(text: str) -> int:
    """Four ASCII characters a token, and a token for any other character: rather too many than too few."""
    plain = len(text.encode("ascii", "ignore"))
    return -(-plain // CHARACTERS_A_TOKEN) + len(text) - plain
