import { Callable, type Kwargs, type Value } from './object.js';
import { raise, typeError } from './python-error.js';
import { repr } from './repr.js';
import { Frame } from './runtime.js';
import { tracing } from './tracing.js';
import { makeDict, Tuple, Undefined } from './values.js';

/** A macro or call block as the compiler made it. Slots are places in the macro's own frame. */
export interface MacroCode {
  readonly name: string | null;
  readonly parameters: readonly string[];
  readonly slots: readonly number[];
  /** Slots of the implicit arguments that the body reads; -1 for one that it does not. */
  readonly callerSlot: number;
  readonly kwargsSlot: number;
  readonly varargsSlot: number;
  /** Sets the frame's other variables, fills in defaults, prints the body. */
  readonly run: (frame: Frame) => void;
  /** The same in the form that can be recorded; `null` where `run` is that form. */
  readonly recorded: (() => (frame: Frame) => void) | null;
}

/** A macro together with the frame it was defined in. */
export class Macro extends Callable {
  override readonly typeName = 'Macro';
  constructor(
    readonly code: MacroCode,
    readonly home: Frame,
  ) {
    super();
  }

  override repr(): string {
    return `<Macro ${this.code.name === null ? 'anonymous' : repr(this.code.name)}>`;
  }

  override getAttribute(name: string): Value | undefined {
    const { code } = this;
    switch (name) {
      case 'name':
        return code.name;
      case 'arguments':
        return new Tuple(code.parameters);
      case 'catch_kwargs':
        return code.kwargsSlot >= 0;
      case 'catch_varargs':
        return code.varargsSlot >= 0;
      case 'caller':
        return code.callerSlot >= 0;
      case 'explicit_caller':
        return code.parameters.includes('caller');
      default:
        return undefined;
    }
  }

  override call(args: readonly Value[], kwargs: Kwargs): Value {
    const { code, home } = this;
    const { rt } = home;
    const frame = new Frame(rt, home);
    const count = code.parameters.length;
    const rest = kwargs === null ? null : new Map(kwargs);
    let foundCaller = args.length >= count ? code.parameters.includes('caller') : false;
    for (let index = 0; index < count; index++) {
      if (index < args.length) frame.vars[code.slots[index]!] = args[index];
      else {
        const name = code.parameters[index]!;
        frame.vars[code.slots[index]!] = rest?.get(name);
        rest?.delete(name);
        if (name === 'caller') foundCaller = true;
      }
    }
    if (code.callerSlot >= 0 && !foundCaller) {
      const caller = rest?.get('caller') ?? null;
      rest?.delete('caller');
      frame.vars[code.callerSlot] = caller ?? new Undefined('No caller defined', undefined, 'caller');
    }
    if (code.kwargsSlot >= 0) frame.vars[code.kwargsSlot] = makeDict(rest ?? []);
    else if (rest !== null && rest.size > 0) this.refuseKeyword(rest);
    if (code.varargsSlot >= 0) frame.vars[code.varargsSlot] = new Tuple(args.slice(count));
    else if (args.length > count) typeError(`macro ${repr(code.name)} takes not more than ${count} argument(s)`);
    rt.tick();
    const run = code.recorded !== null && (tracing.tracer?.recordsMacro(home) ?? false) ? code.recorded() : code.run;
    return rt.capture(() => run(frame));
  }

  private refuseKeyword(rest: ReadonlyMap<string, Value>): never {
    const name = repr(this.code.name);
    if (rest.has('caller'))
      typeError(`macro ${name} was invoked with two values for the special caller argument. This is most likely a bug.`);
    raise('TypeError', `macro ${name} takes no keyword argument ${repr([...rest.keys()][0]!)}`);
  }
}
