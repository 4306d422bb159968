import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { afterAll, describe, expect, test } from 'vitest';
import { runCommandLine } from '../../src/cli/command-line.js';
import { SETTINGS } from '../../src/config.js';
import { SIM_MODEL_DIR } from '../../src/sim/model-dir.js';

const folder = mkdtempSync(join(tmpdir(), 'rollout-gateway-cli-'));
afterAll(() => rmSync(folder, { recursive: true }));
const file = (name: string, content: string): string => {
  const path = join(folder, name);
  writeFileSync(path, content);
  return path;
};

interface Ran {
  readonly code: number;
  readonly out: string;
  readonly err: string;
}

const run = async (argv: readonly string[], input = '', env: Record<string, string> = {}): Promise<Ran> => {
  let out = '';
  let err = '';
  const code = await runCommandLine(argv, {
    env,
    in: Readable.from([Buffer.from(input)]),
    out: (text) => {
      out += text;
    },
    err: (text) => {
      err += text;
    },
    colour: false,
    stopped: () => Promise.resolve('test'),
  });
  return { code, out, err };
};

describe('help', () => {
  test('names every command', async () => {
    const { code, out } = await run(['--help']);
    expect(code).toBe(0);
    for (const name of ['serve', 'demo', 'sim-engine', 'render', 'tokenize', 'parse', 'inspect']) expect(out).toContain(`  ${name} `);
  });

  test('of serve names every setting with default and sentence, and no hidden one', async () => {
    const { code, out } = await run(['serve', '--help']);
    const flat = out.replace(/\s+/g, ' ');
    expect(code).toBe(0);
    for (const { option, setting } of SETTINGS) {
      if (setting.hidden) expect(out).not.toContain(`--${option}`);
      else expect(flat).toContain(`--${option} `);
      if (!setting.hidden) expect(flat).toContain(setting.meaning.replace(/\s+/g, ' '));
    }
  });

  test('--version is the package’s', async () => {
    expect((await run(['--version'])).out).toMatch(/^\d+\.\d+\.\d+\n$/);
  });
});

describe('usage errors give one line and exit code 2', () => {
  test.each([
    ['an unknown command', ['serv'], /unknown command 'serv'/],
    ['an unknown option', ['serve', '--prot', '1'], /unknown option '--prot'/],
    ['an excess argument', ['serve', 'now'], /too many arguments/],
    ['a bad value', ['serve', '--port', 'http'], /--port: port is http, it must be integer, 0 to 65535/],
    ['no engine', ['serve', '--model', 'x'], /engineUrl is not set/],
    ['no model', ['serve', '--engine-url', 'http://127.0.0.1:1'], /model is not set/],
    [
      'a port for all without a token',
      [
        'serve',
        '--engine-url',
        'http://127.0.0.1:1',
        '--model',
        SIM_MODEL_DIR,
        '--host',
        '0.0.0.0',
        '--port',
        '0',
        '--log-level',
        'silent',
      ],
      /no admin token/,
    ],
    ['a missing settings file', ['serve', '--config', join(folder, 'none.json')], /cannot read the settings file/],
    ['no messages', ['render', '--model', SIM_MODEL_DIR], /--messages is missing/],
    ['no model to render with', ['render', '--messages', '-'], /--model is missing/],
    ['messages that are no JSON', ['render', '--model', SIM_MODEL_DIR, '--messages', '-'], /cannot use -/],
    ['an unknown family', ['parse', '--family', 'klingon'], /--family is klingon, it must be one of/],
    ['a bad number of agents', ['demo', '--agents', 'many'], /It must be a whole number/],
  ])('%s', async (_name, argv, message) => {
    const { code, out, err } = await run(argv);
    expect(err).toMatch(message);
    expect(err).toMatch(/^rollout-gateway: .+\n$/);
    expect(err.trim().split('\n')).toHaveLength(1);
    expect([code, out]).toEqual([2, '']);
  });

  test('a bad variable and an unknown name in the file', async () => {
    expect(await run(['serve'], '', { ROLLOUT_GATEWAY_PORTS: '1' })).toMatchObject({
      code: 2,
      err: expect.stringContaining('ROLLOUT_GATEWAY_PORTS'),
    });
    const config = file('unknown.json', '{"prot": 1}');
    expect(await run(['serve', '--config', config])).toMatchObject({ code: 2, err: expect.stringContaining('no setting is called prot') });
  });
});

describe('failures give one line and exit code 1', () => {
  test('a taken port', async () => {
    const other = createServer();
    const port = await new Promise<number>((resolve) =>
      other.listen(0, '127.0.0.1', () => resolve((other.address() as { port: number }).port)),
    );
    const argv = [
      'serve',
      '--engine-url',
      'http://127.0.0.1:1',
      '--model',
      SIM_MODEL_DIR,
      '--port',
      String(port),
      '--log-level',
      'silent',
      '--shards',
      '1',
    ];
    const { code, err, out } = await run(argv);
    other.close();
    expect([code, out]).toEqual([1, '']);
    expect(err).toMatch(/^rollout-gateway: cannot listen on 127\.0\.0\.1:\d+: .+\n$/);
  });

  test('a gateway that is not there to inspect', async () => {
    const { code, err } = await run(['inspect', 's', '--url', 'http://127.0.0.1:1']);
    expect([code, err]).toEqual([1, expect.stringMatching(/^rollout-gateway: cannot reach the gateway at http:\/\/127\.0\.0\.1:1: .+\n$/)]);
  });
});

describe('render', () => {
  const messages = JSON.stringify([{ role: 'user', content: 'Hello <there>' }]);

  test('prints the prompt of a list of messages, and of a request of either protocol', async () => {
    const { code, out } = await run(['render', '--model', SIM_MODEL_DIR, '--messages', file('messages.json', messages)]);
    expect(code).toBe(0);
    expect(out).toContain('Hello <there>');
    const request = JSON.stringify({
      model: 'm',
      max_tokens: 5,
      system: 'Be brief.',
      messages: [{ role: 'user', content: [{ type: 'text', text: 'Hello' }] }],
    });
    const anthropic = await run(['render', '--model', SIM_MODEL_DIR, '--messages', '-', '--protocol', 'anthropic-messages'], request);
    expect(anthropic.out).toMatch(/Be brief\.[\s\S]*Hello/);
  });

  test('shows tokens one a line, whose texts make the prompt', async () => {
    const { out: prompt } = await run(['render', '--model', SIM_MODEL_DIR, '--messages', '-'], messages);
    const { out } = await run(['render', '--model', SIM_MODEL_DIR, '--messages', '-', '--tokens'], messages);
    const texts = out
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(/^ *\d+ {2}(".*")$/.exec(line)![1]!) as string);
    expect(`${texts.join('')}\n`).toBe(prompt);
  });

  test('a refused message is a failure with the template’s or protocol’s sentence', async () => {
    const { code, err } = await run(['render', '--model', SIM_MODEL_DIR, '--messages', '-'], '[{"role":"wizard","content":"x"}]');
    expect([code, err]).toEqual([1, expect.stringMatching(/wizard/)]);
  });
});

describe('tokenize', () => {
  test('shows the ids of a text and the text of ids', async () => {
    const { code, out } = await run(['tokenize', '--model', SIM_MODEL_DIR, 'Hi!']);
    expect(code).toBe(0);
    const ids = [...out.matchAll(/^ *(\d+) {2}"/gm)].map((match) => match[1]);
    expect(out.trimEnd().split('\n').at(-1)).toBe(`${ids.length} tokens`);
    const back = await run(['tokenize', '--model', SIM_MODEL_DIR, '--ids'], ids.join(', '));
    expect(back.out.trimEnd().split('\n').at(-1)).toBe('Hi!');
    expect(await run(['tokenize', '--model', SIM_MODEL_DIR, '--ids', '1 x'])).toMatchObject({
      code: 2,
      err: expect.stringContaining('x is no token id'),
    });
  });

  test('a model directory that is not there is a failure that names it', async () => {
    const { code, err } = await run(['tokenize', '--model', join(folder, 'none'), 'x']);
    expect([code, err]).toEqual([1, expect.stringContaining(join(folder, 'none'))]);
  });
});

describe('parse', () => {
  test('shows reasoning, content, calls and spans of a reply', async () => {
    const reply = '<think>\nhm\n</think>\n\nLook:<tool_call>\n{"name": "f", "arguments": {"a": 1}}\n</tool_call>';
    const { code, out, err } = await run(['parse', '--family', 'hermes', '-'], reply);
    expect([code, err]).toEqual([0, '']);
    expect(out).toMatch(/^family +hermes/);
    expect(out).toContain('"Look:"');
    expect(out).toMatch(/^call +f \{"a": 1\}$/m);
    expect(out).toMatch(/^span +\d+ to \d+ +tool_call$/m);
  });

  test('no grammar is a failure that says how to give one', async () => {
    expect(await run(['parse', '-'], 'x')).toMatchObject({ code: 1, err: expect.stringContaining('--family') });
  });
});
