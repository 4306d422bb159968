/** A prompt as the embedded model's chat template writes it, read back into turns. */
export interface PromptTurn {
  readonly role: string;
  readonly text: string;
}

const START = '<|im_start|>';
const END = '<|im_end|>';

/** The turns of a prompt; the last one is the turn that the model is to say, with what the prompt has already opened. */
export function readTurns(prompt: string): readonly PromptTurn[] {
  return prompt
    .split(START)
    .slice(1)
    .map((block) => {
      const line = block.indexOf('\n');
      const end = block.indexOf(END);
      const role = line < 0 ? block : block.slice(0, line);
      return { role, text: line < 0 ? '' : block.slice(line + 1, end < 0 ? undefined : end) };
    });
}

const TOOL_OPEN = '<tool_response>\n';
const TOOL_CLOSE = '\n</tool_response>';

/** The result inside a tool turn's frame. */
export function toolResult(turn: PromptTurn): string {
  const text = turn.text.startsWith(TOOL_OPEN) ? turn.text.slice(TOOL_OPEN.length) : turn.text;
  return text.endsWith(TOOL_CLOSE) ? text.slice(0, -TOOL_CLOSE.length) : text;
}
