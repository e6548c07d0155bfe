// AJV in strict mode, which the clients of npm's SDK use to check answers: every input and output schema must compile.
import { createRequire } from 'node:module';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';
import Ajv2020 from 'ajv/dist/2020.js';

const [called, given, expected, command, ...args] = process.argv.slice(2);
const client = new Client({ name: 'ajv', version: '1' });
await client.connect(new StdioClientTransport({ command, args, env: process.env, stderr: 'ignore' }));
const ajv = new Ajv2020.default({ strict: true, allErrors: true });
const tools = {};
for (const tool of (await client.listTools()).tools) {
  const compiled = [tool.inputSchema, tool.outputSchema].map((schema) => {
    try {
      return typeof ajv.compile(schema) === 'function';
    } catch (error) {
      console.error(tool.name, error.message);
      return false;
    }
  });
  tools[tool.name] = compiled.every(Boolean) ? tool.inputSchema : null;
}
const answer = await client.callTool({ name: called, arguments: JSON.parse(given) });
const versions = { ajv: createRequire(import.meta.url)('ajv/package.json').version };
console.log(JSON.stringify({ versions, tools, called: answer.content[0].text.includes(expected) }));
await client.close();
