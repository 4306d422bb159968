import type { ReasoningTags } from './reasoning-split.js';
import type { ContentTags } from './reply-shape.js';
import { assistantMessage, CONTENT_MARK, type ProbeTurn, type TemplateProbe, USER_MARK, userMessage } from './template-probe.js';

const PLAIN_TURN: ProbeTurn = { content: CONTENT_MARK, reasoning: false, calls: 0, argumentsAs: 'dict', idStyle: 'native' };
const OPEN = /(<[^<>\s]+>|\[[^[\]\s]+\])(\s*)$/;
const CLOSE = /^(\s*)(<[^<>\s]+>|\[[^[\]\s]+\])(\s*)/;

/** Finds tags that the template puts around the content of an answer, such as `<response>` and `</response>`. */
export function probeContentTags(probe: TemplateProbe, reasoning: ReasoningTags | null): ContentTags | null {
  const text = probe.afterUser({ messages: [userMessage(USER_MARK), assistantMessage(PLAIN_TURN)] });
  const at = text?.lastIndexOf(CONTENT_MARK) ?? -1;
  if (text === null || at < 0) return null;
  const open = OPEN.exec(text.slice(0, at));
  const close = CLOSE.exec(text.slice(at + CONTENT_MARK.length));
  if (open?.[1] === undefined || close?.[2] === undefined) return null;
  if (!isPair(open[1], close[2]) || open[1] === reasoning?.open) return null;
  return { open: open[1], close: close[2], openPad: open[2] ?? '', closePad: close[1] ?? '', afterPad: close[3] ?? '' };
}

function isPair(open: string, close: string): boolean {
  const closings = [
    open.replace(/^([<[])/, '$1/'),
    open.replace('START', 'END'),
    open.replace('start', 'end'),
    open.replace('begin', 'end'),
  ];
  return closings.some((closing) => closing === close && closing !== open);
}
