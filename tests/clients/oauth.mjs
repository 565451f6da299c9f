// A client that has no key, in an official TypeScript client: `node oauth.mjs v1|v2|v2-auto URL`.
// PERSON answers for its person; DOCUMENT, where there is one, is its metadata document. Prints what came of it, as JSON.
import * as v2 from "@modelcontextprotocol/client";
import { UnauthorizedError as UnauthorizedV1 } from "@modelcontextprotocol/sdk/client/auth.js";
import { Client as ClientV1 } from "@modelcontextprotocol/sdk/client/index.js";
import { StreamableHTTPClientTransport as TransportV1 } from "@modelcontextprotocol/sdk/client/streamableHttp.js";

const [flavour, url] = process.argv.slice(2);
const { PERSON, DOCUMENT } = process.env;
const REDIRECT = "http://localhost:43117/callback";
const Transport = flavour === "v1" ? TransportV1 : v2.StreamableHTTPClientTransport;
const Unauthorized = flavour === "v1" ? UnauthorizedV1 : v2.UnauthorizedError;

const kept = {};
let back;
const provider = {
  redirectUrl: REDIRECT,
  clientMetadataUrl: DOCUMENT || undefined,
  clientMetadata: {
    client_name: `journey-${flavour}`,
    redirect_uris: [REDIRECT],
    grant_types: ["authorization_code", "refresh_token"],
    response_types: ["code"],
    token_endpoint_auth_method: "none",
  },
  state: () => "s-1",
  clientInformation: () => kept.client,
  saveClientInformation: (client) => void (kept.client = client),
  tokens: () => kept.tokens,
  saveTokens: (tokens) => void (kept.tokens = tokens),
  saveCodeVerifier: (verifier) => void (kept.verifier = verifier),
  codeVerifier: () => kept.verifier,
  redirectToAuthorization: async (asked) => {
    const answer = await fetch(PERSON + "?url=" + encodeURIComponent(asked.href));
    back = new URL(await answer.json()).searchParams;
  },
};

function newClient() {
  const info = { name: `journey-${flavour}`, version: "1.0.0" };
  if (flavour === "v1") return new ClientV1(info);
  return flavour === "v2" ? new v2.Client(info) : new v2.Client(info, { versionNegotiation: { mode: "auto" } });
}

let client, transport;
async function connect() {
  client = newClient();
  transport = new Transport(new URL(url), { authProvider: provider });
  await client.connect(transport);
}

// Whatever needs its person once is done again after they have answered.
async function letIn(act) {
  try {
    return await act();
  } catch (fault) {
    if (!(fault instanceof Unauthorized)) throw fault;
    await (flavour === "v1" ? transport.finishAuth(back.get("code")) : transport.finishAuth(back));
    await connect();
    return await act();
  }
}

await letIn(() => (client?.transport ? undefined : connect()));
const { tools } = await client.listTools();
const first = kept.tokens.scope;
const forget = () => client.callTool({ name: "forget", arguments: { query: "nothing like it", dry_run: true } });
// The first version renews what it has rather than ask for more, as long as it can.
if (flavour === "v1") delete kept.tokens.refresh_token;
const stepped = await letIn(forget);
const wider = kept.tokens.scope;
const refreshedFrom = kept.tokens.refresh_token;
kept.tokens = { ...kept.tokens, access_token: "mho_worn" };
const after = await client.callTool({ name: "recall", arguments: {} });
await client.close();
console.log(
  JSON.stringify({
    client: kept.client?.client_id,
    issuer: back.get("iss"),
    tools: tools.map((tool) => tool.name),
    first,
    wider,
    stepped: stepped.structuredContent,
    after: after.structuredContent,
    refreshed: kept.tokens.refresh_token !== refreshedFrom,
  }),
);
