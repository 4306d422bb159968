import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { bodyWithoutLists, Columns, floats, naturals } from '../../src/engines/answer-lists.js';
import type { EngineHttpResponse, GenerateOutcome, GenerateRequest } from '../../src/engines/engine.js';
import { NumberScan } from '../../src/engines/number-scan.js';
import { sglang } from '../../src/engines/sglang.js';
import { vllm } from '../../src/engines/vllm.js';
import { quickDraftOfCompletions } from '../../src/engines/vllm-completions.js';
import { draftOfGenerate, quickDraftOfGenerate } from '../../src/engines/vllm-generate.js';
import { exchanges, probeWith, requestOf, responseOf } from '../contract/engine-exchanges.js';

const response = (text: string): EngineHttpResponse => ({ status: 200, headers: {}, body: Buffer.from(text) });
const float = (text: string): number => new NumberScan(Buffer.from(`${text},`), 0).float32();

describe('NumberScan', () => {
  it('rounds every spelling as Math.fround of the general reader does', () => {
    const value = fc.oneof(
      fc.double({ noNaN: true, noDefaultInfinity: true }),
      fc.float({ noNaN: true, noDefaultInfinity: true }),
      fc.double({ min: -20, max: 0, noNaN: true }),
    );
    fc.assert(
      fc.property(value, (number) => {
        expect(float(JSON.stringify(number))).toBe(Math.fround(number === 0 ? 0 : number));
      }),
      { numRuns: 3000 },
    );
  });

  it.each([
    '0.1',
    '-0.1',
    '-11.45576286315918',
    '1e-7',
    '-1.1920928955078125e-07',
    '123456789012345678901234567890',
    '0',
    '0.50000000000000000000001',
  ])('reads %s', (text) => expect(float(text)).toBe(Math.fround(Number(text))));

  it('decides a value between two floats as the general reader does', () => {
    // Half way between two neighbours of float32, and the doubles beside it.
    for (const text of ['1.00000005960464477', '1.000000059604645', '1.0000000596046446', '16777217', '16777219'])
      expect(float(text)).toBe(Math.fround(Number(text)));
  });

  it.each(['', '.5', '5.', '-', 'null', 'NaN', '"1"'])('reads no number in %j', (text) => {
    expect(float(text)).toBeNaN();
  });

  it.each([
    ['0', 0],
    ['151645', 151_645],
    ['2147483647', 2_147_483_647],
    ['2147483648', -1],
    ['01', -1],
    ['1.5', -1],
    ['1e3', -1],
    ['-1', -1],
    ['', -1],
    ['99999999999', -1],
  ])('reads %s as the natural number %i', (text, value) => {
    expect(new NumberScan(Buffer.from(`${text},`), 0).natural()).toBe(value);
  });
});

describe('bodyWithoutLists', () => {
  it('reads the named lists and leaves null for them', () => {
    const ids = new Columns();
    const logprobs = new Columns();
    const body = bodyWithoutLists(
      response('{"text":"é \\"ids\\":[1]","ids":[7,0,9],"x":{"lp":[-0.5,-2]},"echo":[1,2]}'),
      { ids: naturals(ids), lp: floats(logprobs) },
      ['echo', 'absent'],
    );
    expect(body).toEqual({ text: 'é "ids":[1]', ids: null, x: { lp: null }, echo: null });
    expect([...ids.allIds]).toEqual([7, 0, 9]);
    expect([...logprobs.allLogprobs]).toEqual([-0.5, -2]);
  });

  it.each([
    '{"ids":[1, 2]}',
    '{"ids":[1,null]}',
    '{"ids":[1,2',
    '{"ids":[1,2}',
    '{"other":[1]}',
    '{"ids":null}',
    '{"ids":[1,]}',
    '{"ids":[1],}',
  ])('leaves %s to the general reader', (text) =>
    expect(bodyWithoutLists(response(text), { ids: naturals(new Columns()) })).toBeUndefined(),
  );

  it('reads empty lists and long ones', () => {
    const empty = new Columns();
    expect(bodyWithoutLists(response('{"ids":[]}'), { ids: naturals(empty) })).toEqual({ ids: null });
    expect(empty.allIds).toHaveLength(0);
    const long = new Columns();
    const ids = Array.from({ length: 5000 }, (_, index) => index * 7);
    bodyWithoutLists(response(JSON.stringify({ ids })), { ids: naturals(long) });
    expect([...long.allIds]).toEqual(ids);
  });
});

describe('quick and general reading', () => {
  const spaced = (text: string): string => text.replaceAll('":', '": ');
  const ENGINES = { vllm, sglang };
  const decode = (name: 'vllm' | 'sglang', text: string, request: GenerateRequest, route: string): GenerateOutcome =>
    ENGINES[name].decode(response(text), request, probeWith({ route }));

  it.each(['vllm', 'sglang'] as const)('give the same outcome for every recorded answer of %s', (name) => {
    let compared = 0;
    for (const exchange of exchanges(new RegExp(`^${name}-(?!.*(abort|chat))`))) {
      const { response: recorded, request } = exchange;
      if (recorded.status !== 200 || typeof recorded.body !== 'object' || request.method !== 'POST') continue;
      const route = request.path === '/v1/completions' ? 'completions' : 'generate';
      const text = Buffer.from(responseOf(exchange).body).toString();
      // A space after each colon is not in the quick spelling.
      expect(decode(name, text, requestOf(exchange), route)).toEqual(decode(name, spaced(text), requestOf(exchange), route));
      compared++;
    }
    expect(compared).toBeGreaterThan(40);
  });

  it('takes the quick way for the answers of vLLM 0.32', () => {
    const [answer] = exchanges(/^vllm-0\.32\.0-generate$/);
    const request = requestOf(answer!);
    const quick = quickDraftOfGenerate(responseOf(answer!), request)!;
    expect(quick.logprobs).toBeInstanceOf(Float32Array);
    const general = draftOfGenerate(answer!.response.body, request)!;
    expect([...(quick.ids as Int32Array)]).toEqual(general.ids);
    const [completion] = exchanges(/^vllm-0\.32\.0-completions$/);
    expect(quickDraftOfCompletions(responseOf(completion!), request)?.logprobs).toBeInstanceOf(Float32Array);
  });

  it('reads a second or wrong list in the general way', () => {
    const [answer] = exchanges(/^vllm-0\.32\.0-generate$/);
    const text = Buffer.from(responseOf(answer!).body).toString();
    const decoy = text.replace('"choices":', '"decoy":{"token_ids":[5,6],"content":[]},"choices":');
    expect(quickDraftOfGenerate(response(decoy), requestOf(answer!))).toBeNull();
    expect(decode('vllm', decoy, requestOf(answer!), 'generate')).toEqual(decode('vllm', text, requestOf(answer!), 'generate'));
  });
});
