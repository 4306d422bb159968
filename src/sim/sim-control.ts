import type { EngineCore } from './engine-core.js';
import { ALL_FAULTS, type FaultRule, isFaultKind } from './faults.js';
import type { Routes } from './http.js';
import { ledgerJson } from './ledger.js';
import { readReply } from './plan.js';
import { firstOf, type ScriptRule, scriptPolicy } from './policy.js';
import { fields } from './wire.js';

/** Entries of one `GET /sim/ledger`, unless `max` says otherwise. */
const LEDGER_PAGE = 1000;

/** Routes that no real engine has: the ledger, the counters, and the switches for faults and replies. */
export function simControl(core: EngineCore, die: (downMs: number) => void): Routes {
  const ownPolicy = core.policy;
  const state = () => ({
    ...core.counters,
    running: core.scheduler.running,
    waiting: core.scheduler.waiting,
    maxRunning: core.scheduler.maxRunning,
    busyMs: core.scheduler.busyMs,
    steppedMs: core.scheduler.steppedMs,
    decodedTokens: core.scheduler.decodedTokens,
    ledgerDropped: core.ledger.dropped,
  });
  return {
    'GET /sim/counters': () => ({ status: 200, body: state() }),
    'GET /sim/ledger': ({ query }) => {
      const entries = core.ledger.entries(Number(query.get('after') ?? 0)).slice(0, Number(query.get('max') ?? LEDGER_PAGE));
      return { status: 200, body: { dropped: core.ledger.dropped, entries: entries.map(ledgerJson) } };
    },
    'DELETE /sim/ledger': () => {
      core.ledger.clear();
      return { status: 200, body: {} };
    },
    'GET /sim/faults': () => ({ status: 200, body: { kinds: ALL_FAULTS, rules: core.faults.list() } }),
    'POST /sim/faults': ({ body }) => {
      const rules = fields(body).rules;
      const wrong = Array.isArray(rules) ? rules.find((rule) => !isFaultKind(String(fields(rule).kind))) : rules;
      if (!Array.isArray(rules) || wrong !== undefined) {
        return {
          status: 400,
          body: { error: `rules must be a list of {kind, ...}, kind one of ${ALL_FAULTS.join(', ')}; got ${JSON.stringify(wrong)}` },
        };
      }
      core.faults.set(rules as readonly FaultRule[]);
      return { status: 200, body: { rules: core.faults.list() } };
    },
    'POST /sim/script': ({ body }) => {
      const rules = fields(body).rules;
      if (!Array.isArray(rules)) return { status: 400, body: { error: 'rules must be a list of {when, in?, answers?, reply}' } };
      for (const [i, rule] of rules.entries()) readReply(fields(rule).reply, `the reply of rule ${i}`);
      core.policy = firstOf(scriptPolicy(rules as readonly ScriptRule[]), ownPolicy);
      return { status: 200, body: { rules: rules.length } };
    },
    'POST /sim/die': ({ body }) => {
      const { ms } = fields(body);
      setImmediate(die, typeof ms === 'number' ? ms : 1000);
      return { status: 200, body: {} };
    },
  };
}
