import { type BlockGrammar, blockFamily } from './block-reader.js';
import type { Family } from './family.js';
import type { ReplyShape } from './reply-shape.js';

const GRAMMAR: BlockGrammar = { name: 'text', callEnd: null, nativeIds: false, openers: [], strays: [], readBlock: () => undefined };

/** A model whose calls, if it writes any, are not known to us: reasoning is split off, everything else is content. */
export const textFamily = (shape: ReplyShape): Family => blockFamily(GRAMMAR, shape);
