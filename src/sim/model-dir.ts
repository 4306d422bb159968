import { fileURLToPath } from 'node:url';

/** The embedded model directory: a byte-level tokenizer, a chat template and the configuration files beside it. */
export const SIM_MODEL_DIR = fileURLToPath(new URL('./model', import.meta.url));
