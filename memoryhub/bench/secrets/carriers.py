"""What a secret stands in: sentences, code, JSON, YAML, addresses, logs and what else people and programs write."""

import json
import re
from collections.abc import Iterator
from random import Random
from urllib.parse import quote

from memoryhub.bench.secrets.kinds import Kind

PLACES = ("staging", "production", "the build", "the demo account", "our gateway", "acme-importer")
HEADER = re.compile(r"^[A-Za-z]+: ")


def lines(kind: Kind, random: Random) -> Iterator[tuple[str, str, str]]:
    """Carrier, text, and the secret in it."""
    for carrier, template in (WHOLE if kind.whole else FIELDS).items():
        for form in template:
            secret = kind.draw(random)
            sent = quote(secret, safe="") if carrier == "url" else secret
            yield carrier, _filled(form, kind, sent, random), secret
    if kind.whole:
        yield from _quoted(kind, random)


def parts_that_count(kind: Kind, secret: str) -> list[str]:
    """What must not be left of it: of an address or a header only what is secret in it."""
    plain = secret.replace("\u200b", "")
    if secret.startswith("-----"):
        return [part for part in re.split(r"\\n|\n", plain)[1:] if len(part) > 12 and "KEY" not in part]
    if match := re.search(r"://[^:/@]*:([^@]+)@", plain):
        return [match[1]]
    if match := re.search(r"(?:sig=|Bearer |Basic |sessionid=|/B\w+/)(\S+)", plain):
        return [match[1]]
    return [plain]


FIELDS = {
    "prose": (
        "The {told} for {place} is {secret}, please keep it safe.",
        "Heads up: I changed the {told} to {secret} this morning.",
        "Use the {told} `{secret}` when you run the migration in {place}.",
        "{told}: {secret}",
    ),
    "code": (
        '{field} = "{secret}"',
        "const {name} = '{secret}';",
        'client = Client({name}="{secret}", timeout=30)',
        "config['{field}'] = '{secret}'",
        'private static final String {upper} = "{secret}";',
        '{name} := "{secret}"',
        '{name}: str = "{secret}"  # from the console',
    ),
    "json": (
        '{{"region": "eu-central-1", "{field}": "{secret}", "retries": 3}}',
        '{{"name": "{field}", "value": "{secret}"}}',
        '{{"body": "{{\\"{field}\\": \\"{secret}\\"}}"}}',
    ),
    "yaml": (
        "  {field}: {secret}",
        '  {field}: "{secret}"',
        "env:\n  - name: {upper}\n    value: {secret}",
    ),
    "url": (
        "https://api.example.com/v2/items?{field}={secret}&page=2",
        "wss://stream.example.com/?v=1&{field}={secret}",
    ),
    "log": (
        "2026-11-03T10:12:44Z INFO worker started {field}={secret} region=eu",
        "[debug] request headers: {{'{field}': '{secret}', 'accept': '*/*'}}",
        "ERROR login failed ({field}: {secret})",
    ),
    "env": (
        "export {upper}={secret}",
        "{upper}={secret}",
        '{upper}="{secret}"',
        "docker run -e {upper}={secret} app",
    ),
    "shell": (
        "tool login --{flag} {secret}",
        "tool login --{flag}={secret} --yes",
        "curl -H '{field}: {secret}' https://api.example.com",
    ),
    "markup": (
        "<{name}>{secret}</{name}>",
        '<add key="{upper}" value="{secret}"/>',
        "| {field} | {secret} |",
    ),
}
WHOLE = {
    "prose": (
        "Here is what they sent us:\n{secret}\nKeep it out of the repository.",
        "It is {secret} for now",
    ),
    "code": ("value = '''{secret}'''", 'connect("{secret}")'),
    "log": ("2026-11-03T10:12:44Z DEBUG sent {secret}",),
    "yaml": ("key: {secret}",),
}


def _quoted(kind: Kind, random: Random) -> Iterator[tuple[str, str, str]]:
    secret = kind.draw(random)
    yield "json", json.dumps({"note": "as agreed", "value": secret}), secret
    if match := HEADER.match(secret):
        name = match[0][:-2]
        yield "json", json.dumps({"headers": {name: secret[len(match[0]) :]}}), secret
        yield "log", repr({"headers": {name: secret[len(match[0]) :]}}), secret
        yield "shell", f"curl -H '{secret}' https://api.example.com/v1", secret


def _filled(form: str, kind: Kind, secret: str, random: Random) -> str:
    field = random.choice(kind.fields) if kind.fields else "value"
    words = [word for word in re.split(r"[_-]|(?<=[a-z])(?=[A-Z])", field) if word]
    return form.format(
        secret=secret,
        told=kind.told,
        place=random.choice(PLACES),
        field=field,
        name=words[0].lower() + "".join(word.title() for word in words[1:]),
        upper="_".join(words).upper(),
        flag="-".join(words).lower(),
    )
