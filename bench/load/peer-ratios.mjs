/** How many times more each peer costs than the gateway, from the JSON of peers-bench's matrix; `wanted` is the aim. */
import { markdown, median, short } from './figures.mjs';

const FIGURES = [
  {
    name: 'CPU per turn',
    of: (run) => run.cpu_ms_per_turn,
    wanted: {
      'agentcore-tree': { '1k': 8, '8k': 20, '32k': 40, '100k': 70 },
      'agentcore-linear': { '1k': 6, '8k': 8, '32k': 10, '100k': 13 },
      'rllm-scrape': { '1k': 10, '8k': 12, '32k': 12, '100k': 13 },
    },
  },
  { name: 'memory per session', of: (run) => run.mb_per_session, wanted: { 'agentcore-tree': { '8k': 5, '32k': 10, '100k': 20 } } },
];

/** @param thinking histories are rewritten at each user message there: figures without an aim */
export function peerRatios({ runs, options }, { ours = 'ours', thinking = false } = {}) {
  const targets = [...new Set(runs.map((run) => run.target))].filter((target) => target !== ours);
  const rows = FIGURES.flatMap(({ name, of, wanted }) =>
    targets.map((target) => [
      `${target} ÷ ${ours}, ${name}`,
      ...options.cells.map((cell) => {
        const found = ratios(runs, cell, target, ours, of);
        if (found.length === 0) return '–';
        const aim = thinking ? undefined : wanted[target]?.[cell];
        return `${short(median(found))} (${short(Math.min(...found))}–${short(Math.max(...found))})${aim === undefined ? '' : `, wanted ${aim}`}`;
      }),
    ]),
  );
  return markdown(['median of the repeats (least–greatest)', ...options.cells], rows);
}

/** One for each repeat in which both runs were valid. */
function ratios(runs, cell, target, ours, of) {
  const good = (name, repeat) => runs.find((run) => run.valid && run.cell === cell && run.target === name && run.repeat === repeat);
  const repeats = [...new Set(runs.map((run) => run.repeat))];
  return repeats
    .map((repeat) => [good(target, repeat), good(ours, repeat)])
    .filter(([peer, own]) => peer !== undefined && own !== undefined && of(own) > 0)
    .map(([peer, own]) => of(peer) / of(own));
}
