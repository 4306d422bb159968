import { cpSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { RolloutGateway as Gateway } from '../../src/gateway.js';
import type { SimEngine } from '../../src/sim/engine-server.js';
import { SIM_MODEL_DIR } from '../../src/sim/model-dir.js';
import { loadGateway, startSim } from '../support/flow.js';
import { embeddedTemplate } from '../support/history-world.js';

const REFUSAL =
  "{%- for message in messages %}{%- if 'odd' in (message.content or '') %}{{- raise_exception('No odd words, please: ' ~ message.content) }}{%- endif %}{%- endfor %}\n";

describe('a template that refuses a conversation', () => {
  const model = mkdtempSync(join(tmpdir(), 'rollout-gateway-refusing-'));
  let sim: SimEngine;
  let gateway: Gateway;
  let url: string;
  beforeAll(async () => {
    cpSync(SIM_MODEL_DIR, model, { recursive: true });
    writeFileSync(join(model, 'chat_template.jinja'), REFUSAL + embeddedTemplate());
    sim = await startSim();
    const RolloutGateway = await loadGateway();
    gateway = RolloutGateway.fromEngine({ engineUrl: sim.url, model, settings: { shards: 1, log: { level: 'silent' } } });
    ({ url } = await gateway.start());
    await gateway.ready(20_000);
  });
  afterAll(async () => {
    await gateway?.close();
    await sim?.close();
    rmSync(model, { recursive: true, force: true });
  });

  test.each(['/v1/chat/completions', '/v1/messages', '/v1/messages/count_tokens'])(
    'is a 400 with its own words on %s, and no engine is asked',
    async (path) => {
      const before = sim.counters.requests;
      const reply = await fetch(`${url}${path}`, {
        method: 'POST',
        headers: { authorization: 'Bearer refused', 'content-type': 'application/json' },
        body: JSON.stringify({ model: 'm', max_tokens: 9, messages: [{ role: 'user', content: 'odd one' }] }),
      });
      expect(reply.status).toBe(400);
      expect(reply.headers.get('x-should-retry')).toBe('false');
      const text = await reply.text();
      expect(text).toContain('template_error');
      expect(text).toContain('No odd words, please: odd one');
      expect(text).toMatch(/line 1/);
      expect(sim.counters.requests).toBe(before);
    },
  );
});
