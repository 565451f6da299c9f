"""What is planted: values in the form that their issuers give them, drawn anew for each run.

Written beside, not from, the rules: the forms here are those of the issuers' documents.
"""

import base64
from collections.abc import Callable
from dataclasses import dataclass
from random import Random

from memoryhub.common.secrets.shapes import expand


@dataclass(frozen=True)
class Kind:
    """`template` is expanded, `fields` are names such a value stands under, `told` how people call it.

    `whole` kinds are a text by themselves (a key in armour, a header, an address): they stand in no field.
    """

    name: str
    template: str | Callable[[Random], str]
    fields: tuple[str, ...] = ()
    told: str = ""
    whole: bool = False

    def draw(self, random: Random) -> str:
        return self.template(random) if callable(self.template) else expand(self.template, random)


MARKS = "!@#$%^&*-_+="
WORDS = (
    "river",
    "stone",
    "cloud",
    "tiger",
    "maple",
    "orbit",
    "candle",
    "harbor",
    "winter",
    "copper",
    "falcon",
    "meadow",
)


def password(random: Random) -> str:
    """As people and password managers make them."""
    made = random.randrange(4)
    if made == 0:
        return f"{random.choice(WORDS).title()}{random.choice(MARKS)}{random.randrange(10, 9999)}"
    if made == 1:
        return expand("{base62:14}", random)
    if made == 2:
        return f"{expand('{base62:8}', random)}{random.choice(MARKS)}{expand('{base62:6}', random)}"
    return f"{random.choice(WORDS)}{random.randrange(100, 9999)}{random.choice('!#$')}{random.choice(WORDS)}"


def pem(label: str, lines: int) -> Callable[[Random], str]:
    def made(random: Random) -> str:
        body = "\n".join(expand("{base64:64}", random) for _ in range(lines))
        return f"-----BEGIN {label}-----\n{body}\n{expand('{base64:43}=', random)}\n-----END {label}-----"

    return made


def unended(random: Random) -> str:
    return pem("PRIVATE KEY", 6)(random).rsplit("\n", 1)[0]


def escaped(random: Random) -> str:
    return pem("RSA PRIVATE KEY", 5)(random).replace("\n", "\\n")


def encoded_env(random: Random) -> str:
    lines = f"APP_ENV=prod\nDB_PASSWORD={password(random)}\nAPI_TOKEN={expand('{hex:40}', random)}\n"
    return base64.b64encode(lines.encode()).decode()


def split_key(random: Random) -> str:
    """Copied out of a page that lets long words break."""
    key = expand("ghp_{crc:30}", random)
    at = random.randrange(6, len(key) - 6)
    return f"{key[:at]}\u200b{key[at:]}"


KINDS = (
    Kind("aws access key id", "AKIA{aws:16}", ("aws_access_key_id", "AWS_ACCESS_KEY_ID"), "access key"),
    Kind(
        "aws secret",
        "{base64:40}",
        ("aws_secret_access_key", "AWS_SECRET_ACCESS_KEY"),
        "AWS secret access key",
    ),
    Kind(
        "aws session token",
        "IQoJb3JpZ2luX2Vj{base64:180}==",
        ("aws_session_token", "sessionToken"),
        "session token",
    ),
    Kind("azure storage key", "{base64:86}==", ("AccountKey", "storage_account_key"), "storage account key"),
    Kind(
        "azure client secret",
        "{letters:3}8Q~{url:34}",
        ("AZURE_CLIENT_SECRET", "client_secret"),
        "client secret",
    ),
    Kind("google api key", "AIza{url:35}", ("GOOGLE_API_KEY", "mapsApiKey"), "maps key"),
    Kind("google client secret", "GOCSPX-{url:28}", ("client_secret",), "client secret"),
    Kind("google access token", "ya29.a0{url:150}", ("access_token",), "access token"),
    Kind("github classic", "ghp_{crc:30}", ("GITHUB_TOKEN", "githubToken"), "GitHub token"),
    Kind("github app", "ghs_{base62:36}", ("GH_TOKEN",), "installation token"),
    Kind("github fine-grained", "github_pat_{base62:22}_{base62:59}", ("token",), "token"),
    Kind("gitlab", "glpat-{base62:20}", ("CI_JOB_TOKEN", "PRIVATE-TOKEN"), "GitLab token"),
    Kind(
        "slack bot",
        "xoxb-{digits:12}-{digits:13}-{base62:24}",
        ("SLACK_BOT_TOKEN", "slackToken"),
        "bot token",
    ),
    Kind("slack app", "xapp-1-A{upper:10}-{digits:13}-{hex:64}", ("SLACK_APP_TOKEN",), "app token"),
    Kind(
        "slack webhook",
        "https://hooks.slack.com/services/T{upper:9}/B{upper:10}/{base62:24}",
        (),
        "",
        whole=True,
    ),
    Kind("discord bot", "M{base62:25}.{base62:6}.{url:38}", ("DISCORD_TOKEN",), "bot token"),
    Kind("telegram bot", "{digits:10}:AA{url:33}", ("TELEGRAM_BOT_TOKEN",), "bot token"),
    Kind("stripe secret", "sk_live_{base62:24}", ("STRIPE_SECRET_KEY", "stripeKey"), "Stripe key"),
    Kind("stripe restricted", "rk_live_{base62:99}", ("STRIPE_KEY",), "restricted key"),
    Kind("webhook secret", "whsec_{base62:32}", ("WEBHOOK_SECRET",), "signing secret"),
    Kind("openai", "sk-proj-{url:74}T3BlbkFJ{url:74}", ("OPENAI_API_KEY", "openaiApiKey"), "OpenAI key"),
    Kind("anthropic", "sk-ant-api03-{url:93}AA", ("ANTHROPIC_API_KEY",), "API key"),
    Kind("groq", "gsk_{base62:52}", ("GROQ_API_KEY",), "key"),
    Kind("hugging face", "hf_{letters:34}", ("HF_TOKEN",), "token"),
    Kind("npm", "npm_{crc:30}", ("NPM_TOKEN", "_authToken"), "npm token"),
    Kind("pypi", "pypi-AgEIcHlwaS5vcmc{url:150}", ("TWINE_PASSWORD",), "upload token"),
    Kind("docker", "dckr_pat_{base62:27}", ("DOCKER_TOKEN",), "hub token"),
    Kind("digitalocean", "dop_v1_{hex:64}", ("DIGITALOCEAN_TOKEN",), "token"),
    Kind("shopify", "shpat_{hex:32}", ("SHOPIFY_ACCESS_TOKEN",), "access token"),
    Kind("sendgrid", "SG.{url:22}.{url:43}", ("SENDGRID_API_KEY",), "mail key"),
    Kind("twilio auth token", "{hex:32}", ("TWILIO_AUTH_TOKEN", "authToken"), "auth token"),
    Kind("mailgun", "key-{hex:32}", ("MAILGUN_API_KEY",), "API key"),
    Kind("mailchimp", "{hex:32}-us14", ("MAILCHIMP_API_KEY",), "API key"),
    Kind("datadog", "{hex:32}", ("DD_API_KEY", "datadogApiKey"), "API key"),
    Kind("datadog app", "{hex:40}", ("DD_APP_KEY",), "application key"),
    Kind("cloudflare", "{url:40}", ("CLOUDFLARE_API_TOKEN",), "API token"),
    Kind("heroku", "{uuid}", ("HEROKU_API_KEY",), "API key"),
    Kind("linear", "lin_api_{base62:40}", ("LINEAR_API_KEY",), "key"),
    Kind("notion", "ntn_{digits:11}{base62:35}", ("NOTION_TOKEN",), "integration token"),
    Kind("figma", "figd_{url:40}", ("FIGMA_TOKEN",), "token"),
    Kind("airtable", "pat{base62:14}.{hex:64}", ("AIRTABLE_TOKEN",), "token"),
    Kind("vault", "hvs.{url:90}", ("VAULT_TOKEN",), "Vault token"),
    Kind("terraform cloud", "{base62:14}.atlasv1.{url:67}", ("TFE_TOKEN",), "token"),
    Kind("databricks", "dapi{hex:32}", ("DATABRICKS_TOKEN",), "token"),
    Kind("grafana", "glsa_{base62:32}_{hex:8}", ("GRAFANA_TOKEN",), "service account token"),
    Kind("atlassian", "ATATT3{url:186}", ("JIRA_API_TOKEN",), "API token"),
    Kind("tailscale", "tskey-auth-{base62:17}-{base62:32}", ("TS_AUTHKEY",), "auth key"),
    Kind("jwt", "eyJ{jwt}", ("id_token", "jwt"), "token"),
    Kind("memory hub", "mh_live_{crc:30}", ("MEMORY_HUB_KEY",), "agent key"),
    Kind("generic api key", "{base62:32}", ("api_key", "API_KEY", "apiKey", "x-api-key"), "API key"),
    Kind(
        "generic secret",
        "{url:43}",
        ("client_secret", "SECRET_KEY", "appSecret", "signing_key"),
        "client secret",
    ),
    Kind("generic token", "{hex:40}", ("auth_token", "ACCESS_TOKEN", "refreshToken"), "access token"),
    Kind(
        "password", password, ("password", "DB_PASSWORD", "dbPassword", "smtp_pass", "PGPASSWORD"), "password"
    ),
    Kind("rsa key", pem("RSA PRIVATE KEY", 8), whole=True),
    Kind("openssh key", pem("OPENSSH PRIVATE KEY", 6), whole=True),
    Kind("pgp key", pem("PGP PRIVATE KEY BLOCK", 9), whole=True),
    Kind("key without end", unended, whole=True),
    Kind("key with escapes", escaped, whole=True),
    Kind(".env in base64", encoded_env, whole=True),
    Kind("key split by a zero-width space", split_key, ("token",), "token"),
    Kind(
        "database address",
        lambda r: f"postgres://app:{expand('{base62:18}', r)}@db.internal:5432/shop",
        whole=True,
    ),
    Kind("address with token", "https://oauth2:{base62:26}@git.example.com/acme/app.git", whole=True),
    Kind(
        "signed address",
        "https://acme.blob.core.windows.net/b/x.csv?sv=2024-11-04&sp=r&sig={base62:40}%2B{base62:2}%3D",
        whole=True,
    ),
    Kind("bearer header", "Authorization: Bearer {url:40}", whole=True),
    Kind("basic header", "Authorization: Basic {basic}", whole=True),
    Kind("cookie header", "Cookie: theme=dark; sessionid={base62:32}", whole=True),
)
