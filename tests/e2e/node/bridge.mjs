// Drives npm's MCP client for the Python tests: one JSON request a line on stdin, one JSON answer a line on stdout.
// As LibreChat's client it offers no capabilities and hands on only the text content of a result.
import readline from 'node:readline';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';

const [kind, ...target] = process.argv.slice(2);
const transport =
  kind === 'stdio'
    ? new StdioClientTransport({ command: target[0], args: target.slice(1), env: process.env, stderr: 'inherit' })
    : new StreamableHTTPClientTransport(new URL(target[0]));
const client = new Client({ name: 'bridge', version: '1.0.0' }, { capabilities: {} });
await client.connect(transport);

const answer = (value) => process.stdout.write(`${JSON.stringify(value)}\n`);
answer({ server: client.getServerVersion(), instructions: client.getInstructions() });

for await (const line of readline.createInterface({ input: process.stdin })) {
  const request = JSON.parse(line);
  try {
    if (request.method === 'tools/list') {
      answer(await client.listTools());
    } else {
      const result = await client.callTool({ name: request.name, arguments: request.arguments });
      const text = result.content.filter((block) => block.type === 'text').map((block) => block.text);
      answer({ text: text.join('\n'), isError: result.isError === true });
    }
  } catch (error) {
    answer({ protocolError: String(error) });
  }
}
await client.close();
