// What Claude Desktop starts for an unpacked bundle: bundle.mjs DIRECTORY USER_CONFIG prints command, args and env.
import { readFileSync } from "node:fs";
import { homedir } from "node:os";
import { getMcpConfigForManifest } from "@anthropic-ai/mcpb";

const [directory, userConfig] = process.argv.slice(2);
const config = await getMcpConfigForManifest({
  manifest: JSON.parse(readFileSync(`${directory}/manifest.json`, "utf8")),
  extensionPath: directory,
  systemDirs: { HOME: homedir() },
  userConfig: JSON.parse(userConfig),
  pathSeparator: "/",
});
console.log(JSON.stringify(config));
