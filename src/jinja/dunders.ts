import type { Value } from './object.js';
import { typeName } from './type-names.js';

const NUMBER =
  'abs add bool divmod floor floordiv ceil getnewargs int mod mul neg pos pow radd rdivmod rfloordiv rmod rmul round rpow rsub rtruediv sub truediv trunc';
const BITS = `${NUMBER} and float index invert lshift or rand rlshift ror rrshift rshift rxor xor`;
const SET = 'and contains iter len or rand reversed ror rsub rxor sub xor';
const STR = 'add contains getitem getnewargs iter len mod mul rmod rmul';

/** Special attributes of Python's types beside those of every object, without their underscores. */
const OF_TYPE: Readonly<Record<string, string>> = {
  str: STR,
  Markup: `${STR} html html_format module radd slots`,
  int: BITS,
  bool: BITS,
  float: `${NUMBER} getformat`,
  NoneType: 'bool',
  list: 'add class_getitem contains delitem getitem iadd imul iter len mul reversed rmul setitem',
  dict: 'class_getitem contains delitem getitem ior iter len or reversed ror setitem',
  tuple: 'add class_getitem contains getitem getnewargs iter len mul rmul',
  range: 'bool contains getitem iter len reversed',
  dict_keys: SET,
  dict_items: SET,
  dict_values: 'iter len reversed',
  generator: 'del iter name next qualname',
  function: 'annotations builtins call closure code defaults dict get globals kwdefaults module name qualname',
  builtin_function_or_method: 'call module name qualname self text_signature',
  Undefined:
    'add aiter bool call complex div float floordiv getattr getitem int iter len mod module mul neg pos pow radd rdiv rfloordiv rmod rmul rpow rsub rtruediv slots sub truediv',
  Macro: 'call dict module weakref',
  LoopContext: 'annotations call dict iter len module next weakref',
  Cycler: 'dict module next weakref',
  Joiner: 'call dict module weakref',
};
const OF_OBJECT =
  'class delattr dir doc eq format ge getattribute getstate gt hash init init_subclass le lt ne new reduce reduce_ex repr setattr sizeof str subclasshook';

const words = (text: string): ReadonlySet<string> => new Set(text.split(' '));
const OBJECT_NAMES = words(OF_OBJECT);
const TYPE_NAMES: ReadonlyMap<string, ReadonlySet<string>> = new Map(Object.entries(OF_TYPE).map(([type, names]) => [type, words(names)]));

/** Whether Python's object has the special attribute (`__len__`): the sandbox answers those with an undefined that it guards. */
export function hasDunder(value: Value, name: string): boolean {
  if (!name.startsWith('__') || !name.endsWith('__') || name.length < 5) return false;
  const type = typeName(value);
  if (type === 'Namespace') return name === '__class__';
  const bare = name.slice(2, -2);
  return OBJECT_NAMES.has(bare) || (TYPE_NAMES.get(type)?.has(bare) ?? false);
}
