import { type ErrorCode, GatewayError } from '../errors.js';

/**
 * A template that does not compile or does not render. `pythonClass` is the class of the exception that Python raises in its
 * place (`UndefinedError`, `TypeError`, `TemplateSyntaxError`, ...); `TemplateError` is what `raise_exception` gives. Where a bound of
 * ours was met it is `LimitExceeded` and the code is `template_limit`.
 */
export class TemplateFailure extends GatewayError {
  constructor(
    readonly pythonClass: string,
    message: string,
    /** 1-based line of the template, `null` where it is not known. */
    readonly line: number | null,
    options?: ErrorOptions,
  ) {
    const code: ErrorCode = pythonClass === 'LimitExceeded' ? 'template_limit' : 'template_error';
    super(code, message, options);
  }
}

/** An exception on its way through the evaluator; the template's entry points turn it into a {@link TemplateFailure}. */
export class PythonError extends Error {
  constructor(
    readonly pythonClass: string,
    message: string,
    readonly line: number | null = null,
  ) {
    super(message);
  }
}

export function raise(pythonClass: string, message: string): never {
  throw new PythonError(pythonClass, message);
}

export function typeError(message: string): never {
  throw new PythonError('TypeError', message);
}

export function valueError(message: string): never {
  throw new PythonError('ValueError', message);
}

export function overLimit(what: string, limit: number): never {
  throw new PythonError('LimitExceeded', `the template exceeded its limit of ${limit} ${what}; simplify it or raise the limit`);
}

/** Gives an error thrown while a template ran or was compiled its public form. */
export function asTemplateFailure(error: unknown, line: number | null): unknown {
  if (error instanceof PythonError) return new TemplateFailure(error.pythonClass, error.message, error.line ?? line);
  if (error instanceof RangeError && /call stack/i.test(error.message))
    return new TemplateFailure('RecursionError', 'maximum recursion depth exceeded', line, { cause: error });
  if (error instanceof RangeError && /string length|BigInt|array length/i.test(error.message))
    return new TemplateFailure('LimitExceeded', 'the template made a value that is too large to hold', line, { cause: error });
  return error;
}
