import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe } from 'vitest';
import { LIVE_DIR, liveTokenizerDir, whyNot } from '../support/live-engine.js';
import { liveSuite } from '../support/live-flow.js';
import { abortTests } from './aborts.js';
import { pauseTests } from './pauses.js';
import { refusalTests } from './refusals.js';
import { restartTests } from './restarts.js';
import { forceScript, rolloutTests } from './rollouts.js';

/** Calls that the engine samples at once; more wait in it. */
const SEATS = 8;

for (const name of ['vllm', 'sglang'] as const) {
  const reason = whyNot(name);
  if (reason !== null) process.stderr.write(`live tests of ${name} are skipped: ${reason}\n`);

  describe.skipIf(reason !== null)(`a real ${name} on the CPU`, () => {
    const live = liveSuite(name, {
      args: [name === 'vllm' ? '--max-num-seqs' : '--max-running-requests', String(SEATS)],
      env: async () => {
        if (name !== 'vllm') return {};
        // The engine reads its script at the first request.
        const script = join(LIVE_DIR, 'force-script.json');
        writeFileSync(script, JSON.stringify(forceScript(await liveTokenizerDir())));
        return { FORCE_SCRIPT: script };
      },
    });

    rolloutTests(live);
    abortTests(live, SEATS);
    pauseTests(live);
    refusalTests(live);
    // The engine does not outlive these.
    restartTests(live);
  });
}
