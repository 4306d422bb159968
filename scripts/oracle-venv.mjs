// Makes the Python environment of the oracle tests (jinja2 3.1.6) and prints the path of its interpreter:
//   node scripts/oracle-venv.mjs
import { execFileSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import path from 'node:path';

const folder = path.resolve(import.meta.dirname, '../node_modules/.cache/oracle-venv');
const python = path.join(folder, 'bin', 'python');
const PINNED = ['jinja2==3.1.6', 'markupsafe==3.0.4'];

function ready() {
  if (!existsSync(python)) return false;
  try {
    const version = execFileSync(python, ['-c', 'import jinja2, markupsafe; print(jinja2.__version__)'], { encoding: 'utf8' });
    return version.trim() === '3.1.6';
  } catch {
    return false;
  }
}

if (!ready()) {
  execFileSync('python3', ['-m', 'venv', folder], { stdio: ['ignore', 'ignore', 'inherit'] });
  execFileSync(python, ['-m', 'pip', 'install', '--quiet', '--disable-pip-version-check', ...PINNED], {
    stdio: ['ignore', 'ignore', 'inherit'],
  });
}
console.log(python);
