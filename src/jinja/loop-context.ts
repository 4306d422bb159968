import { positional } from './arguments.js';
import { equal } from './compare.js';
import { iterate, PyIterator } from './iterate.js';
import { Callable, type Kwargs, type List, NativeFunction, PyObject, type Value } from './object.js';
import { typeError } from './python-error.js';
import { touched, tracing } from './tracing.js';
import { Tuple, Undefined } from './values.js';

/** The `loop` of a for loop. It runs over a list, or over an iterator that it never reads further ahead than it is asked to. */
export class LoopContext extends Callable {
  override readonly typeName = 'LoopContext';
  index0 = -1;
  readonly birth = tracing.clock;
  private items: List | null;
  private iterator: Iterator<Value> | null = null;
  private size: number;
  private after: Value | undefined;
  private current: Value | undefined;
  private before: Value | undefined;
  private lastChanged: Value | undefined;

  constructor(
    source: Value,
    private readonly depth0: number,
    private readonly recurse: ((source: Value, depth: number) => Value) | null,
  ) {
    super();
    this.items = Array.isArray(source) ? (source as List) : source instanceof Tuple ? source.items : null;
    if (this.items === null) this.iterator = iterate(source);
    const sized =
      source instanceof Map ? source.size : source instanceof PyObject && !(source instanceof PyIterator) ? source.length() : -1;
    this.size = this.items !== null ? this.items.length : sized;
  }

  /** Moves to the next item; `undefined` at the end. */
  advance(): Value | undefined {
    const item = this.peek();
    this.after = undefined;
    if (item === undefined) return undefined;
    this.index0++;
    this.before = this.current;
    this.current = item;
    return item;
  }

  private peek(): Value | undefined {
    if (this.items !== null) return this.items[this.index0 + 1];
    if (this.after === undefined) {
      const step = this.iterator!.next();
      this.after = step.done ? undefined : step.value;
    }
    return this.after;
  }

  override length(): number {
    const count = this.count();
    tracing.tracer?.readLoop(this, 'length', count);
    return count;
  }

  private count(): number {
    if (this.size < 0) {
      const rest: Value[] = [];
      for (let step = this.iterator!.next(); !step.done; step = this.iterator!.next()) rest.push(step.value);
      this.iterator = rest[Symbol.iterator]();
      this.size = rest.length + this.index0 + 1 + (this.after === undefined ? 0 : 1);
    }
    return this.size;
  }

  override call(args: readonly Value[], kwargs: Kwargs): Value {
    touched(this.birth);
    positional('__call__', 1, 1, args, kwargs);
    if (this.recurse === null) typeError("The loop must have the 'recursive' marker to be called recursively.");
    return this.recurse(args[0]!, this.depth0 + 1);
  }

  override repr(): string {
    touched(this.birth);
    return `<LoopContext ${this.index0 + 1}/${this.count()}>`;
  }

  override truthy(): boolean {
    return this.length() !== 0;
  }

  override iterate(): Iterator<Value> {
    touched(this.birth);
    return {
      next: () => {
        const item = this.advance();
        return item === undefined ? { done: true, value: undefined } : { done: false, value: new Tuple([item, this]) };
      },
    };
  }

  override getAttribute(name: string): Value | undefined {
    const value = this.read(name);
    // What `cycle` gives depends on the position only.
    if (tracing.tracer !== null) {
      if (name === 'cycle') tracing.tracer.readLoop(this, 'index0', this.index0);
      else tracing.tracer.readLoop(this, name, value);
    }
    return value;
  }

  /** An attribute without telling the tracer. */
  read(name: string): Value | undefined {
    switch (name) {
      case 'index':
        return this.index0 + 1;
      case 'index0':
        return this.index0;
      case 'first':
        return this.index0 === 0;
      case 'last':
        return this.peek() === undefined;
      case 'length':
        return this.count();
      case 'revindex':
        return this.count() - this.index0;
      case 'revindex0':
        return this.count() - this.index0 - 1;
      case 'depth':
        return this.depth0 + 1;
      case 'depth0':
        return this.depth0;
      case 'previtem':
        return this.index0 === 0 ? new Undefined('there is no previous item', undefined, null) : this.before;
      case 'nextitem':
        return this.peek() ?? this.orMissing();
      case 'cycle':
        return new NativeFunction(name, (args) =>
          args.length === 0 ? typeError('no items for cycling given') : args[this.index0 % args.length]!,
        );
      case 'changed':
        return new NativeFunction(name, (args) => this.changed(new Tuple(args)));
      default:
        return undefined;
    }
  }

  private orMissing(): Value {
    return this.peek() === undefined ? new Undefined('there is no next item', undefined, null) : null;
  }

  private changed(value: Tuple): boolean {
    touched(this.birth);
    if (this.lastChanged !== undefined && equal(this.lastChanged, value)) return false;
    this.lastChanged = value;
    return true;
  }
}
