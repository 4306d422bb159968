import { PyObject, type Value } from './object.js';
import { repr } from './repr.js';
import { touched, tracing } from './tracing.js';
import { isStr, strText } from './values.js';

/** `namespace(...)`: the only object whose members a template can set. */
export class Namespace extends PyObject {
  override readonly typeName = 'Namespace';
  readonly members = new Map<string, Value>();
  readonly birth = tracing.clock;
  constructor(entries: Iterable<readonly [Value, Value]>) {
    super();
    for (const [key, value] of entries) if (isStr(key)) this.members.set(strText(key), value);
  }
  set(name: string, value: Value): void {
    tracing.tracer?.writeNamespace(this, name, value);
    this.members.set(name, value);
  }
  override repr(): string {
    touched(this.birth);
    return `<Namespace ${repr(this.members)}>`;
  }
  override truthy(): boolean {
    return true;
  }
  override getAttribute(name: string): Value | undefined {
    const value = this.members.get(name);
    tracing.tracer?.readNamespace(this, name, value);
    return value;
  }
}
