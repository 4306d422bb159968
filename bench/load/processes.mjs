/** Processes under test: started in groups of their own, watched through /proc, ended by group. */
import { spawn } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { createServer } from 'node:net';

const TICK_MS = 10; // USER_HZ is 100 on Linux
export const sleep = (ms) => new Promise((resolve) => setTimeout(resolve, ms));

function read(path) {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return null; // the process or thread has ended
  }
}

function statOf(pid) {
  const text = read(`/proc/${pid}/stat`);
  if (text === null) return null;
  const fields = text.slice(text.lastIndexOf(')') + 2).split(' ');
  return {
    pid: Number(pid),
    zombie: fields[0] === 'Z',
    parent: Number(fields[1]),
    group: Number(fields[2]),
    ticks: Number(fields[11]) + Number(fields[12]),
    endedTicks: Number(fields[13]) + Number(fields[14]),
  };
}

/** The process, its group and all descendants. */
function treeOf(root) {
  const all = readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .map(statOf)
    .filter((it) => it !== null && !it.zombie);
  const members = new Set(all.filter((it) => it.pid === root || it.group === root).map((it) => it.pid));
  for (let before = -1; before !== members.size; ) {
    before = members.size;
    for (const it of all) if (members.has(it.parent)) members.add(it.pid);
  }
  return all.filter((it) => members.has(it.pid));
}

/** CPU time so far (user and system, all threads) and resident memory of a process tree. */
export function usageOf(root) {
  let cpuMs = 0;
  let rssMb = 0;
  for (const { pid, ticks, endedTicks } of treeOf(root)) {
    let scheduledNs = 0;
    const tasks = read(`/proc/${pid}/stat`) === null ? [] : readdirSync(`/proc/${pid}/task`);
    for (const task of tasks) scheduledNs += Number(read(`/proc/${pid}/task/${task}/schedstat`)?.split(' ')[0] ?? 0);
    // the scheduler's own count is finer, but forgets threads that have ended
    cpuMs += Math.max(scheduledNs / 1e6, ticks * TICK_MS) + endedTicks * TICK_MS;
    rssMb += Number(/VmRSS:\s+(\d+)/.exec(read(`/proc/${pid}/status`) ?? '')?.[1] ?? 0) / 1024;
  }
  return { cpuMs, rssMb };
}

/** CPU time that all cores spent working or lost to other machines. */
export function machineBusyMs() {
  const [user, nice, system, , , irq, softirq, steal] = read('/proc/stat').split('\n')[0].trim().split(/\s+/).slice(1).map(Number);
  return (user + nice + system + irq + softirq + steal) * TICK_MS;
}

const live = new Set();
for (const signal of ['SIGINT', 'SIGTERM']) {
  process.once(signal, async () => {
    // a runner may start its next program meanwhile
    while (live.size > 0) await Promise.all([...live].map((program) => program.stop()));
    process.exit(130);
  });
}

/** A program in a process group of its own, ended with this process; `output` keeps the end of what it printed. */
export function launch(command, args, { env = {}, cwd, cores } = {}) {
  const pinned = cores ? ['taskset', '-c', cores, command] : [command];
  const child = spawn(pinned[0], [...pinned.slice(1), ...args], {
    cwd,
    env: { ...process.env, ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
    detached: true,
  });
  const self = { pid: child.pid, output: '', stdout: '', exit: null };
  child.stdout.on('data', (bytes) => {
    self.stdout += bytes;
    self.output = (self.output + bytes).slice(-40_000);
  });
  child.stderr.on('data', (bytes) => {
    self.output = (self.output + bytes).slice(-40_000);
  });
  self.ended = new Promise((resolve) => {
    child.on('error', (error) => {
      self.output += error.message;
      self.exit = 'error';
      resolve();
    });
    child.on('close', (code, signal) => {
      self.exit = code ?? signal;
      resolve();
    });
  });
  live.add(self);
  self.ended.then(() => live.delete(self));
  self.stop = async () => {
    for (const signal of ['SIGTERM', 'SIGKILL']) {
      if (self.exit !== null) return;
      try {
        process.kill(-self.pid, signal);
      } catch {
        return; // already gone
      }
      await Promise.race([self.ended, sleep(5000)]);
    }
  };
  return self;
}

/** The first line of a program that says where it listens. */
export async function listeningUrl(program, limitMs = 60_000) {
  for (const until = Date.now() + limitMs; Date.now() < until; await sleep(20)) {
    const match = /listening on (http:\S+)/.exec(program.stdout);
    if (match) return match[1];
    if (program.exit !== null) break;
  }
  throw new Error(`the program did not say where it listens (exit ${program.exit}):\n${program.output.slice(-2000)}`);
}

/** Waits until GET answers 200. */
export async function untilReady(program, url, limitMs = 60_000) {
  for (const until = Date.now() + limitMs; Date.now() < until; await sleep(50)) {
    if (program.exit !== null) throw new Error(`the program ended with ${program.exit}:\n${program.output.slice(-2000)}`);
    const response = await fetch(url).catch(() => null);
    await response?.arrayBuffer();
    if (response?.status === 200) return;
  }
  throw new Error(`GET ${url} was not 200 within ${limitMs / 1000} s:\n${program.output.slice(-2000)}`);
}

export async function freePort() {
  const server = createServer();
  await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address();
  await new Promise((resolve) => server.close(resolve));
  return port;
}
