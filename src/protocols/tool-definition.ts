import type { JsonObject } from '../canonical/json-value.js';
import { isJsonObject } from '../canonical/json-value.js';
import type { ToolDefinition } from '../canonical/message.js';
import { invalidField, member } from './request-fields.js';

/** `{name, description?, parameters?}` of a tool, nothing invented; `null` is as good as none. */
export function toolDefinition(tool: JsonObject, schemaName: string, path: string): ToolDefinition {
  const name = tool.get('name');
  if (typeof name !== 'string' || name === '') throw invalidField(`${path}.name`, 'a string that is not empty', name);
  const description = member(tool, 'description');
  if (description !== undefined && typeof description !== 'string') throw invalidField(`${path}.description`, 'a string', description);
  const parameters = member(tool, schemaName);
  if (parameters !== undefined && !isJsonObject(parameters))
    throw invalidField(`${path}.${schemaName}`, 'a JSON Schema object', parameters);
  return { name, ...(description === undefined ? {} : { description }), ...(parameters === undefined ? {} : { parameters }) };
}
