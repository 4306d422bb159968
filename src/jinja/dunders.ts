/** Attributes with double underscores that practically every Python object has: the sandbox answers them with an undefined that it guards. */
export const DUNDERS: ReadonlySet<string> = new Set(
  (
    'class doc init new repr str eq ne lt le gt ge hash getattribute setattr delattr dir format reduce reduce_ex sizeof ' +
    'subclasshook init_subclass getstate'
  )
    .split(' ')
    .map((name) => `__${name}__`),
);

export const isDunder = (name: string): boolean => name.startsWith('__') && name.endsWith('__');
