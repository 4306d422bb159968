import { describe, expect, it } from 'vitest';
import { parseJson } from '../../src/canonical/json-parse.js';
import { writeJson } from '../../src/canonical/json-write.js';
import { parameterSchema, typedValue } from '../../src/families/schema-typing.js';

const typed = (text: string, schema: string): string => {
  const { value, mismatch } = typedValue(text, parseJson(schema));
  return `${writeJson(value)}${mismatch === null ? '' : ` !${mismatch}`}`;
};

describe('a value of bare text', () => {
  it.each([
    ['7', '{"type":"string"}', '"7"'],
    ['null', '{"type":"string"}', '"null"'],
    ['7', '{"type":"integer"}', '7'],
    [' 7\n', '{"type":"integer"}', '7'],
    ['5.0', '{"type":"integer"}', '5.0'],
    ['5.5', '{"type":"integer"}', '"5.5" !integer'],
    ['12345678901234567890', '{"type":"integer"}', '12345678901234567890'],
    ['1.50', '{"type":"number"}', '1.5'],
    ['1e-7', '{"type":"number"}', '1e-07'],
    ['True', '{"type":"boolean"}', 'true'],
    ['false', '{"type":"boolean"}', 'false'],
    ['yes', '{"type":"boolean"}', '"yes" !boolean'],
    ['{"a": 1.0}', '{"type":"object"}', '{"a": 1.0}'],
    ["{'a': None}", '{"type":"object"}', '{"a": null}'],
    ['[1]', '{"type":"object"}', '"[1]" !object'],
    ['["a"]', '{"type":"array"}', '["a"]'],
    ["['a', True]", '{"type":"array"}', '["a", true]'],
    ['a', '{"type":"array"}', '"a" !array'],
    ['None', '{"type":["integer","null"]}', 'null'],
    ['null', '{"type":"integer","nullable":true}', 'null'],
    ['7', '{"type":["string","integer"]}', '7'],
    ['x', '{"type":["string","integer"]}', '"x"'],
    ['7', '{"anyOf":[{"type":"integer"},{"type":"null"}]}', '7'],
    ['null', '{"oneOf":[{"type":"string"},{"type":"null"}]}', 'null'],
    ['7', '{"anyOf":[{"type":"integer"},{}]}', '"7"'],
    ['2', '{"enum":[1,2]}', '2'],
    ['b', '{"enum":["a","b"]}', '"b"'],
    ['1', '{"const":1}', '1'],
    ['{}', '{"properties":{}}', '{}'],
    ['[]', '{"items":{"type":"string"}}', '[]'],
    ['7', '{}', '"7"'],
    ['7', '{"description":"no type"}', '"7"'],
    ['7', '{"type":"int"}', '7'],
    ['7', '{"type":"constructor"}', '"7"'],
    ['7', 'true', '"7"'],
  ])('%j by %s is %s', (text, schema, expected) => {
    expect(typed(text, schema)).toBe(expected);
  });

  it('is a string where the parameter or the tool is not declared', () => {
    expect(typedValue('7', undefined)).toEqual({ value: '7', mismatch: null });
    expect(parameterSchema(undefined, 'a')).toBeUndefined();
    expect(parameterSchema({ name: 'f' }, 'a')).toBeUndefined();
    expect(parameterSchema({ name: 'f', parameters: parseJson('{"properties":{}}') }, 'a')).toBeUndefined();
  });

  it('follows references inside the tool’s schema, also in circles', () => {
    const parameters = parseJson(
      '{"properties":{"a":{"$ref":"#/$defs/n"},"b":{"anyOf":[{"$ref":"#/$defs/n"},{"type":"null"}]},"c":{"$ref":"#/properties/c"}},"$defs":{"n":{"type":"integer"}}}',
    );
    const schema = (name: string) => parameterSchema({ name: 'f', parameters }, name);
    expect(typedValue('7', schema('a')).value).toBe(7);
    expect(typedValue('None', schema('b')).value).toBeNull();
    expect(typedValue('7', schema('c')).value).toBe('7');
  });
});
