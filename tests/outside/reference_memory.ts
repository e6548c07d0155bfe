// The reference server's KnowledgeGraphManager as a client of our server: one memory for each of its files.
import { ChildProcess, spawn } from 'child_process';
import path from 'path';
import { createInterface } from 'readline';

export interface Entity { name: string; entityType: string; observations: string[] }
export interface Relation { from: string; to: string; relationType: string }
export interface KnowledgeGraph { entities: Entity[]; relations: Relation[] }

class Server {
  private process: ChildProcess;
  private waiting = new Map<number, (answer: any) => void>();
  private count = 0;
  private opened: Promise<void>;

  constructor(readonly file: string) {
    const data = path.join(process.env.OUTSIDE_DATA!, path.basename(file));
    this.process = spawn(
      process.env.OUTSIDE_COMMAND!,
      ['serve', '--toolsets', 'reference', '--data-dir', data],
      { stdio: ['pipe', 'pipe', 'ignore'] },
    );
    createInterface({ input: this.process.stdout! }).on('line', (line) => {
      const answer = JSON.parse(line);
      this.waiting.get(answer.id)?.(answer);
    });
    const hello = { protocolVersion: '2025-06-18', capabilities: {}, clientInfo: { name: 'outside', version: '1' } };
    this.opened = this.send('initialize', hello).then(() => this.write({ method: 'notifications/initialized' }));
  }

  async call(name: string, sent: object): Promise<any> {
    await this.opened;
    const { result } = await this.send('tools/call', { name, arguments: sent });
    if (result.isError) throw new Error(result.content[0].text);
    return result.structuredContent;
  }

  end(): void {
    this.process.kill();
  }

  private send(method: string, params: object): Promise<any> {
    const id = ++this.count;
    const answer = new Promise((resolve) => this.waiting.set(id, resolve));
    this.write({ id, method, params });
    return answer;
  }

  private write(message: object): void {
    this.process.stdin!.write(JSON.stringify({ jsonrpc: '2.0', ...message }) + '\n');
  }
}

let server: Server | undefined;
process.on('exit', () => server?.end());

export class KnowledgeGraphManager {
  // Two managers of one file speak to one server; one of another file ends it.
  constructor(file: string) {
    if (server?.file === file) return;
    server?.end();
    server = new Server(file);
  }

  private call = (name: string, sent: object): Promise<any> => server!.call(name, sent);

  createEntities = async (entities: Entity[]) => (await this.call('create_entities', { entities })).entities;
  createRelations = async (relations: Relation[]) => (await this.call('create_relations', { relations })).relations;
  addObservations = async (observations: object[]) => (await this.call('add_observations', { observations })).results;
  deleteEntities = (entityNames: string[]) => this.call('delete_entities', { entityNames });
  deleteRelations = (relations: Relation[]) => this.call('delete_relations', { relations });
  deleteObservations = (deletions: object[]) => this.call('delete_observations', { deletions });
  searchNodes = (query: string): Promise<KnowledgeGraph> => this.call('search_nodes', { query });
  openNodes = (names: string[]): Promise<KnowledgeGraph> => this.call('open_nodes', { names });
  // There is none: the empty query is in every text.
  readGraph = (): Promise<KnowledgeGraph> => this.searchNodes('');
}
