import { once } from 'node:events';
import type { Readable, Writable } from 'node:stream';

/** Lines cut at `\n` only: the other characters that some readers take for line ends occur in texts. */
export async function* linesOf(input: Readable): AsyncGenerator<string> {
  input.setEncoding('utf8');
  let rest = '';
  for await (const chunk of input as AsyncIterable<string>) {
    const parts = chunk.split('\n');
    parts[0] = rest + parts[0]!;
    rest = parts.pop()!;
    yield* parts;
  }
  if (rest !== '') yield rest;
}

/** Writes each line with its end and waits where the output is slower. */
export const writeLines = async (lines: AsyncIterable<string>, output: Writable): Promise<void> => {
  for await (const line of lines) if (!output.write(`${line}\n`)) await once(output, 'drain');
};
