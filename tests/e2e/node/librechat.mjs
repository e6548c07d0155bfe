// LibreChat as far as the memory meets it: its configuration is read by its own schemas, its client is npm's SDK without
// capabilities, the headers are filled in for the user of each call. Requests and answers are JSON lines, as in bridge.mjs.
import fs from 'node:fs';
import readline from 'node:readline';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { CallToolResultSchema } from '@modelcontextprotocol/sdk/types.js';
import { configSchema, extractEnvVariable, MCPOptionsSchema } from 'librechat-data-provider';
import yaml from 'js-yaml';

const [file, origin, timeout] = process.argv.slice(2);
const config = configSchema.strict().parse(yaml.load(fs.readFileSync(file, 'utf8')));
const options = MCPOptionsSchema.parse(config.mcpServers.memory);
const url = new URL(new URL(options.url).pathname, origin);

// A place for a user stays as it is while there is none, and so does a variable that is not set.
const headersFor = (user) =>
  Object.fromEntries(
    Object.entries(options.headers).map(([name, value]) => [
      name,
      extractEnvVariable(user ? value.replaceAll('{{LIBRECHAT_USER_ID}}', user) : value),
    ]),
  );

let headers = headersFor(null);
let client, transport;

async function connect() {
  client = new Client({ name: '@librechat/api-client', version: '1.2.3' }, { capabilities: {} });
  transport = new StreamableHTTPClientTransport(url, {
    fetch: (input, init) => {
      const sent = new Headers(init?.headers);
      Object.entries(headers).forEach(([name, value]) => sent.set(name, value));
      return fetch(input, { ...init, headers: sent });
    },
  });
  await client.connect(transport, { timeout: Number(timeout) });
  const instructions = options.serverInstructions === true ? client.getInstructions() : undefined;
  return { options, server: client.getServerVersion(), instructions };
}

const answer = (value) => process.stdout.write(`${JSON.stringify(value)}\n`);
answer(await connect());

for await (const line of readline.createInterface({ input: process.stdin })) {
  const request = JSON.parse(line);
  const start = performance.now();
  headers = headersFor(request.user);
  try {
    if (request.method === 'tools/list') {
      answer(await client.listTools(undefined, { timeout: Number(timeout) }));
    } else if (request.method === 'reconnect') {
      if (request.ends) await transport.terminateSession();
      await client.close();
      answer(await connect());
    } else {
      const call = { name: request.name, arguments: request.arguments };
      const result = await client.callTool(call, CallToolResultSchema, { timeout: Number(timeout) });
      const text = result.content.filter((block) => block.type === 'text').map((block) => block.text);
      const ms = Math.round(performance.now() - start);
      answer({ text: text.join('\n'), isError: result.isError === true, ms });
    }
  } catch (error) {
    answer({ protocolError: String(error) });
  }
}
await client.close();
