import type { Clients, DemoAgent } from './agent.js';
import { losesAnAnswer } from './cast.js';
import { runChatAgent } from './chat-agent.js';
import { runMessagesAgent } from './messages-agent.js';

export interface Packages {
  readonly openai: typeof import('openai');
  readonly anthropic: typeof import('@anthropic-ai/sdk');
}

/** The official client packages. @throws Error that says how to get them. */
export async function clientPackages(): Promise<Packages> {
  try {
    return { openai: await import('openai'), anthropic: await import('@anthropic-ai/sdk') };
  } catch (error) {
    throw new Error('the demo’s agents use the official clients; install them: npm install openai @anthropic-ai/sdk', { cause: error });
  }
}

/** The official client of the agent's dialect, on the session's key. */
export function clientsFor(agent: DemoAgent, gatewayUrl: string, { openai, anthropic }: Packages): Clients {
  const more = losesAnAnswer(agent) ? { fetch: losingFetch(2) } : {};
  if (agent.dialect === 'chat') {
    const client = new openai.OpenAI({ baseURL: `${gatewayUrl}/v1`, apiKey: agent.sessionId, ...more });
    return { talk: (task, tally) => runChatAgent(client, task, tally) };
  }
  const client = new anthropic.Anthropic({ baseURL: gatewayUrl, apiKey: agent.sessionId, ...more });
  return { talk: (task, tally) => runMessagesAgent(client, task, tally) };
}

/** A network that loses the n-th answer after it was sent whole: the SDK tries again and marks it as a retry. */
function losingFetch(lost: number): typeof fetch {
  let calls = 0;
  return async (input, init) => {
    const response = await fetch(input, init);
    if (++calls !== lost) return response;
    await response.arrayBuffer();
    throw new TypeError('the answer got lost on the way');
  };
}
