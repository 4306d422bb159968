import type { Family } from './family.js';
import { MarkerScan } from './marker-scan.js';
import { splitReasoning } from './reasoning-split.js';
import type { ReplyShape } from './reply-shape.js';
import { SpanBuilder } from './span-builder.js';

/** A model whose calls, if it writes any, are not known to us: reasoning is split off, everything else is content. */
export function textFamily(shape: ReplyShape): Family {
  return {
    name: 'text',
    callEnd: null,
    nativeIds: false,
    parse(reply) {
      const scan = new MarkerScan(reply);
      const builder = new SpanBuilder(reply.text, scan.body.length);
      if (shape.reasoning !== null) splitReasoning(reply, scan, builder, shape.reasoning);
      const lead = shape.contentLead;
      if (builder.position === 0 && lead !== '' && scan.body.startsWith(lead)) builder.markup(lead.length);
      return builder.finish('text');
    },
  };
}
