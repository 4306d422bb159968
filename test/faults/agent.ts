import { type CallEnd, sdkCall } from './sdk-call.js';

export interface AgentPlan {
  readonly url: string;
  readonly key: string;
  readonly turns: number;
  readonly random: () => number;
  /** Share of the calls that the client leaves in mid work. */
  readonly leaves: number;
  /** Longest wait before it leaves. */
  readonly leaveMs: number;
}

/** Every agent ends in one of these: it said all it had to, or was told something final, or gave up. */
export interface AgentEnd {
  readonly key: string;
  readonly state: 'done' | 'refused' | 'gave_up';
  readonly turns: number;
  readonly last: CallEnd;
}

const PATIENCE = 6;

/** One rollout: a conversation in either dialect, streamed or not, that grows by a question and a reply per turn. */
export async function runAgent(plan: AgentPlan): Promise<AgentEnd> {
  const { url, key, random } = plan;
  const path = random() < 0.5 ? '/v1/chat/completions' : '/v1/messages';
  const messages: { readonly role: 'user' | 'assistant'; readonly content: string }[] = [];
  let last: CallEnd = { kind: 'left' };
  for (let turn = 0; turn < plan.turns; turn++) {
    messages.push({ role: 'user', content: `${key} asks, turn ${turn}` });
    last = await askUntilAnswered(plan, { url, path, key, body: { model: 'm', max_tokens: 40, messages } });
    if (last.kind !== 'reply') return { key, state: last.kind === 'refused' ? 'refused' : 'gave_up', turns: turn, last };
    messages.push({ role: 'assistant', content: last.text });
  }
  return { key, state: 'done', turns: plan.turns, last };
}

/** A broken call is asked for again a few times, as agents' own loops do; one that the client left, as a marked retry or as a new call. */
async function askUntilAnswered(
  { random, leaves, leaveMs }: AgentPlan,
  call: { readonly url: string; readonly path: '/v1/chat/completions' | '/v1/messages'; readonly key: string; readonly body: object },
): Promise<CallEnd> {
  let mark = 0;
  let end: CallEnd = { kind: 'left' };
  for (let attempt = 0; attempt < PATIENCE; attempt++) {
    const leave = random() < leaves ? new AbortController() : null;
    const timer = leave === null ? undefined : setTimeout(() => leave.abort(), random() * leaveMs);
    const request = { ...call, body: { ...call.body }, stream: random() < 0.5, retries: 2, mark };
    end = await sdkCall(leave === null ? request : { ...request, signal: leave.signal });
    clearTimeout(timer);
    if (end.kind === 'reply' || (end.kind === 'refused' && end.status < 500)) return end;
    mark = end.kind === 'left' && random() < 0.7 ? mark + 1 : 0;
  }
  return end;
}
