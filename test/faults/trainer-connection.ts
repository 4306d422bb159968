import { connect } from 'node:net';
import type { FinishedSession } from '../../src/trainer/trace-encoding.js';
import { type FinishedJson, finishedOf } from './served.js';

interface LeaseJson {
  readonly lease_id: string | null;
  readonly sessions: readonly FinishedJson[];
}

/** Where the connection of a scrape is killed. */
type Kill = 'while it waits' | 'while it reads' | 'before it acknowledges' | 'while it acknowledges' | 'never';
const KILLS: readonly Kill[] = ['while it waits', 'while it reads', 'before it acknowledges', 'while it acknowledges', 'never'];

/** A trainer whose connections die at every stage of a scrape. It keeps what it has read whole, and sessions that come again once. */
export class ClumsyTrainer {
  killed = 0;
  /** Sessions that it was given although it had them. */
  again = 0;
  #isOver = false;

  constructor(
    private readonly url: string,
    private readonly random: () => number,
    /** Trainers that work together keep in one place. */
    readonly kept = new Map<string, FinishedSession>(),
  ) {}

  stop(): void {
    this.#isOver = true;
  }

  async work(): Promise<void> {
    while (!this.#isOver) await this.#scrape(KILLS[Math.floor(this.random() * KILLS.length)]!);
  }

  async #scrape(kill: Kill): Promise<void> {
    if (kill !== 'never') this.killed++;
    const text = await this.#send('GET', '/traces?wait_ms=200&max=5', '', kill);
    if (text === null) return;
    const { lease_id, sessions } = JSON.parse(text) as LeaseJson;
    if (lease_id === null) return;
    for (const session of sessions.map(finishedOf)) {
      if (this.kept.has(session.session_id)) this.again++;
      this.kept.set(session.session_id, session);
    }
    if (kill !== 'before it acknowledges') await this.#send('POST', '/traces/ack', JSON.stringify({ lease_id }), kill);
  }

  /** The body of the answer; `null` when the connection was killed first. */
  #send(method: 'GET' | 'POST', path: string, body: string, kill: Kill): Promise<string | null> {
    return new Promise((resolve) => {
      const socket = connect(Number(new URL(this.url).port), '127.0.0.1');
      let text = '';
      socket.on('error', () => undefined);
      socket.on('close', () => resolve(null));
      socket.on('data', (chunk) => {
        if (kill === 'while it reads') return socket.resetAndDestroy();
        text += chunk.toString('latin1');
        const [head, rest] = text.split('\r\n\r\n', 2);
        if (rest === undefined || rest.length < Number(/content-length: (\d+)/i.exec(head!)?.[1])) return;
        resolve(Buffer.from(rest, 'latin1').toString('utf8'));
        socket.destroy();
      });
      socket.write(`${method} ${path} HTTP/1.1\r\nhost: x\r\ncontent-length: ${body.length}\r\n\r\n${body}`, () => {
        if (kill === 'while it waits' || (method === 'POST' && kill === 'while it acknowledges'))
          setTimeout(() => socket.resetAndDestroy(), this.random() * 20);
      });
    });
  }
}
