import type { Statement } from './nodes.js';
import type { ExpressionParser } from './parse-expression.js';

/** Tags that load another template. There are none to load: the statement fails when it runs. */
export function parseLoader(tag: string, expressions: ExpressionParser): Statement {
  const { stream } = expressions;
  const { line } = stream.next();
  const template = expressions.expression();
  const names: string[] = [];
  if (tag === 'import') {
    stream.expectName('as');
    names.push(expressions.nameTarget().name);
  } else if (tag === 'from') {
    stream.expectName('import');
    for (let first = true; first || stream.skipOperator(','); first = false) {
      if (stream.current.type !== 'name') break;
      if ((stream.isName('with') || stream.isName('without')) && stream.look().value === 'context') break;
      const { name } = expressions.nameTarget();
      if (name.startsWith('_')) stream.fail('names starting with an underline can not be imported', line, 'TemplateAssertionError');
      names.push(stream.skipName('as') ? expressions.nameTarget().name : name);
    }
  }
  if (tag === 'include' && stream.isName('ignore') && stream.look().value === 'missing') {
    stream.next();
    stream.next();
  }
  if (tag !== 'extends' && (stream.isName('with') || stream.isName('without')) && stream.look().value === 'context') {
    stream.next();
    stream.next();
  }
  return { kind: 'loader', template, names, tag, line };
}
