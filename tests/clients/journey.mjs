// What an agent does first, with an official TypeScript client: `node journey.mjs v1|v2|v2-auto URL`.
// The key is in KEY and sent as the header HEADER says. Prints what the client made of it, as JSON.
import { Client as ClientV2, StreamableHTTPClientTransport as TransportV2 } from "@modelcontextprotocol/client";
import { Client as ClientV1 } from "@modelcontextprotocol/sdk/client/index.js";
import { StreamableHTTPClientTransport as TransportV1 } from "@modelcontextprotocol/sdk/client/streamableHttp.js";

const [flavour, url] = process.argv.slice(2);
const { KEY, HEADER } = process.env;
const headers = HEADER === "x-api-key" ? { "x-api-key": KEY } : { authorization: `Bearer ${KEY}` };
const info = { name: `journey-${flavour}`, version: "1.0.0" };

function pair() {
  const options = { requestInit: { headers } };
  if (flavour === "v1") return [new ClientV1(info), new TransportV1(new URL(url), options)];
  const client = flavour === "v2" ? new ClientV2(info) : new ClientV2(info, { versionNegotiation: { mode: "auto" } });
  return [client, new TransportV2(new URL(url), options)];
}

const [client, transport] = pair();
await client.connect(transport);
const { tools } = await client.listTools();
const written = await client.callTool({ name: "kv_set", arguments: { ns: "journey", key: "k", value: { a: [1, "ü"] } } });
const read = await client.callTool({ name: "kv_get", arguments: { ns: "journey", key: "k" } });
const refused = await client.callTool({ name: "recall", arguments: { limit: 1000 } });
const report = {
  version: flavour === "v1" ? transport.protocolVersion : client.getNegotiatedProtocolVersion(),
  server: client.getServerVersion()?.name,
  instructions: client.getInstructions(),
  tools: tools.map((tool) => tool.name),
  written: written.structuredContent,
  read: read.structuredContent,
  text: read.content,
  refused: { isError: refused.isError, content: refused.content },
};
await client.close();
console.log(JSON.stringify(report));
