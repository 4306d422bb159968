import type { Reply } from './reply.js';

/** A plan that cannot be played; the message says what is wrong and what would be right. */
export class PlanError extends Error {
  override readonly name = 'PlanError';
}

type Check = readonly [what: string, holds: (value: unknown) => boolean];

const isRecord = (value: unknown): value is Record<string, unknown> => typeof value === 'object' && value !== null && !Array.isArray(value);
const isWhole = (value: unknown): boolean => Number.isInteger(value) && Number(value) >= 0;
const oneOf = (...names: readonly string[]): Check => [names.join(' or '), (value) => names.some((name) => name === value)];
const TEXT: Check = ['a string', (value) => typeof value === 'string'];
const WHOLES: Check = ['a list of whole numbers', (value) => Array.isArray(value) && value.every(isWhole)];

const isCall = (value: unknown): boolean =>
  isRecord(value) && typeof value.name === 'string' && Object.keys(value).sort().join() === 'arguments,name';

/** Every member of a reply. */
const MEMBERS: Readonly<Record<keyof Reply, Check>> = {
  reasoning: TEXT,
  text: TEXT,
  calls: ['a list of {"name": …, "arguments": …}', (value) => Array.isArray(value) && value.every(isCall)],
  raw: TEXT,
  ids: WHOLES,
  spelling: oneOf('canonical', 'bytes', 'mixed'),
  markers: oneOf('tokens', 'letters'),
  lastBytes: WHOLES,
  ends: ['true or false', (value) => typeof value === 'boolean'],
};

/** The replies of a plan. @throws PlanError */
export function readPlan(json: string): readonly Reply[] {
  let plan: unknown;
  try {
    plan = JSON.parse(json);
  } catch (error) {
    throw new PlanError(`the plan is not JSON: ${(error as Error).message}`);
  }
  if (!Array.isArray(plan)) throw new PlanError('the plan must be a list of replies, such as [plan][{"text": "Nile"}][/plan]');
  return plan.map((reply, i) => readReply(reply, `reply ${i} of the plan`));
}

/** A reply from outside. @throws PlanError */
export function readReply(reply: unknown, where: string): Reply {
  if (!isRecord(reply)) throw new PlanError(`${where} must be an object with some of ${Object.keys(MEMBERS).join(', ')}`);
  for (const [name, value] of Object.entries(reply)) {
    const check = Object.hasOwn(MEMBERS, name) ? MEMBERS[name as keyof Reply] : undefined;
    if (check === undefined) throw new PlanError(`${where} has "${name}", a reply has only ${Object.keys(MEMBERS).join(', ')}`);
    if (!check[1](value)) throw new PlanError(`"${name}" of ${where} must be ${check[0]}, it is ${JSON.stringify(value).slice(0, 100)}`);
  }
  return reply;
}
