import { cpus, totalmem } from 'node:os';

/** What a figure belongs to. */
export const machine = () => ({
  date: new Date().toISOString().slice(0, 10),
  cores: cpus().length,
  cpu: cpus()[0].model,
  memoryGiB: Math.round(totalmem() / 2 ** 30),
  node: process.version,
});
