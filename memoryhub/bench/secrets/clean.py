"""Lines with nothing secret in them: code and prose that are on every machine with Python, and made-up lines of
the kinds that are easily taken for secrets."""

import sysconfig
from importlib.metadata import distributions
from pathlib import Path
from random import Random

from memoryhub.common.secrets.shapes import expand

LONGEST = 2000
OF_A_FILE = 40

LOOKALIKES = (
    "commit {hex:40}",
    "Merge {hex:7} into {hex:7}",
    "- fixed in {hex:12} (#4521)",
    "FROM python:3.12-slim@sha256:{hex:64}",
    "sha256:{hex:64}  app.tar.gz",
    '    "integrity": "sha512-{base64:86}==",',
    'resolved "https://npm.acme.example/left-pad/-/left-pad-1.3.0.tgz#{hex:40}"',
    '    {{ url = "https://files.pythonhosted.org/packages/{hex:2}/{hex:2}/x.whl", hash = "sha256:{hex:64}" }},',
    "golang.org/x/text v0.14.0 h1:{base64:43}=",
    'checksum = "{hex:64}"',
    "{uuid}",
    '  "id": "{uuid}", "parent": "{uuid}",',
    "request_id={uuid} status=200 took=12ms",
    "trace_id={hex:32} span_id={hex:16}",
    'ETag: "{hex:32}"',
    "mem_{hex:32} was superseded by mem_{hex:32}",
    '"next_page_token": "eyJ{url:60}:1tXyZk:{url:43}"',
    "?cursor=eyJ{url:40}:1tXyZk:{url:43}&limit=20",
    "token count {digits:4}",
    "prompt_tokens={digits:4} completion_tokens={digits:3} total_tokens={digits:4}",
    "max_tokens: {digits:4}",
    "The token limit is {digits:5}; a token is about four characters.",
    "The password must have at least {digits:2} characters.",
    "password: required, at least 10 characters",
    "Ask Ben for the password of the build machine.",
    'password = os.environ["DB_PASSWORD"]',
    "DB_PASSWORD=${{DB_PASSWORD:?not set}}",
    "api_key: {{{{ .Values.apiKey }}}}",
    "Authorization: Bearer $ACCESS_TOKEN",
    'curl -H "Authorization: Bearer <your token>" https://api.example.com/v1/items',
    "token = request.headers.get('X-Auth-Token')",
    "def check_password(self, raw_password: str) -> bool:",
    'api_key: str | None = Field(default=None, description="Your API key")',
    "secretKeyRef: {{ name: database, key: password }}",
    "postgres://localhost:5432/app",
    "redis://cache:6379/0",
    "git clone https://github.com/acme/app.git",
    "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAA{base64:44} ann@laptop",
    "-----BEGIN CERTIFICATE-----",
    "data:image/png;base64,iVBORw0KGgo{base64:160}",
    "X-Amz-Date=20261130T101500Z&X-Amz-Expires=900",
    "spki-sha256 {base64:43}=",
    "The secret of a good team is a short list.",
    "Rotate the key of the importer every quarter; it lives in the vault.",
    "version 2.14.{digits:2} build {digits:6}",
    "+49 30 {digits:8}",
    "2026-11-30T10:15:{digits:2}Z INFO worker finished job {digits:6} in 12.5s",
    "IBAN DE89370400440532013000 is the example of the standard",
    "AKIA is how access key ids begin, and ghp_ how tokens of people do",
    "session 2026-11-30: planned the move of the archive",
    "Cookie: theme=dark; lang=en",
)


def clean_lines(count: int, random: Random) -> list[str]:
    """A quarter look like secrets and are none, the rest is what people wrote."""
    made = [_filled(random.choice(LOOKALIKES), random) for _ in range(count // 4)]
    found: list[str] = []
    files = sorted([*_code(), *_prose()])
    random.shuffle(files)
    for path in files:
        if len(found) >= count - len(made):
            break
        found += _some(path, random)
    return [*made, *found[: count - len(made)]]


def big_texts(count: int, size: int, random: Random) -> list[str]:
    """Of that many characters each."""
    files = [path for path in sorted([*_code(), *_prose()]) if path.stat().st_size > size]
    return [
        path.read_text(encoding="utf-8", errors="replace")[:size]
        for path in random.sample(files, min(count, len(files)))
    ]


def _code() -> list[Path]:
    library = Path(sysconfig.get_paths()["stdlib"])
    return [path for path in library.rglob("*.py") if "site-packages" not in path.parts]


def _prose() -> list[Path]:
    found = [
        Path(str(one.locate_file(f)))
        for one in distributions()
        for f in one.files or []
        if f.name == "METADATA"
    ]
    return [path for path in found if path.exists()]


def _some(path: Path, random: Random) -> list[str]:
    lines = path.read_text(encoding="utf-8", errors="replace").splitlines()
    fit = [line for line in lines if line.strip() and len(line) < LONGEST]
    return random.sample(fit, min(OF_A_FILE, len(fit)))


def _filled(template: str, random: Random) -> str:
    return expand(template, random).replace("{{", "{").replace("}}", "}")
