import { type BlockContext, toolFinder } from './block-reader.js';
import type { Family } from './family.js';
import { MarkerScan } from './marker-scan.js';
import { splitReasoning } from './reasoning-split.js';
import type { ReplyShape } from './reply-shape.js';
import { SpanBuilder } from './span-builder.js';

/** A family whose calls begin where the answer begins, without tags. */
export interface WholeTurnGrammar {
  readonly name: string;
  /** Markers that mean nothing where the grammar does not read them. */
  readonly strays: readonly string[];
  /** Reads from the first character of the answer that is no white space; what it leaves is content. */
  readonly readTurn: (context: BlockContext, start: number) => void;
}

export function wholeTurnFamily(grammar: WholeTurnGrammar, shape: ReplyShape): Family {
  return {
    name: grammar.name,
    callEnd: null,
    nativeIds: false,
    parse(reply) {
      const scan = new MarkerScan(reply);
      const builder = new SpanBuilder(reply.text, scan.body.length);
      if (shape.reasoning !== null && !splitReasoning(reply, scan, builder, shape.reasoning)) return builder.finish(grammar.name);
      const lead = shape.contentLead;
      if (builder.position === 0 && lead !== '' && scan.body.startsWith(lead)) builder.markup(lead.length);
      grammar.readTurn({ scan, builder, stoppedAtCall: false, tool: toolFinder(reply.tools) }, scan.skipSpace(builder.position));
      for (let stray = scan.nearest(grammar.strays, builder.position); stray !== null; stray = scan.nearest(grammar.strays, stray.end)) {
        builder.content(stray.start);
        builder.unparsed(stray.end);
      }
      if (builder.callCount > 0 && !builder.endsUnparsed && scan.isBlank(builder.position, builder.end)) builder.markup(builder.end);
      return builder.finish(grammar.name);
    },
  };
}
