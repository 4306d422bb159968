import type { JsonValue } from '../canonical/json-value.js';
import { writeJson } from '../canonical/json-write.js';
import type { ToolDefinition } from '../canonical/message.js';
import { GatewayError } from '../errors.js';
import { shown } from './request-fields.js';

/** A request's tools, apart: those that stand in the prompt's head, and those that a message brings in. */
export interface SplitTools {
  readonly head: readonly ToolDefinition[];
  readonly deferred: readonly ToolDefinition[];
}

export interface ListedTool {
  readonly definition: ToolDefinition;
  readonly deferred: boolean;
}

/**
 * A tool is deferred when the request says so or when a message refers to it: a client that stops marking a tool it has
 * found must not change the head, which all recorded tokens stand behind.
 */
export function splitTools(tools: readonly ListedTool[], referenced: ReadonlySet<string>): SplitTools {
  const isDeferred = (tool: ListedTool): boolean => tool.deferred || referenced.has(tool.definition.name);
  return {
    head: tools.filter((tool) => !isDeferred(tool)).map((tool) => tool.definition),
    deferred: tools.filter(isDeferred).map((tool) => tool.definition),
  };
}

/**
 * The text that stands in a tool result for references to tools: their definitions, one a line, in the order of the
 * references and in the form that most templates print tools in.
 * @param names at least one
 * @throws GatewayError for a name that is none of `tools`
 */
export function expandToolReferences(names: readonly string[], tools: ReadonlyMap<string, ToolDefinition>, path: string): string {
  const lines = names.map((name) => {
    const tool = tools.get(name);
    if (tool === undefined) {
      throw new GatewayError('invalid_request', `\`${path}\` refers to the tool ${shown(name)}, which \`tools\` does not define.`);
    }
    return writeJson(definitionJson(tool));
  });
  return `<tools>\n${lines.join('\n')}\n</tools>`;
}

function definitionJson(tool: ToolDefinition): JsonValue {
  const definition = new Map<string, JsonValue>([['name', tool.name]]);
  if (tool.description !== undefined) definition.set('description', tool.description);
  if (tool.parameters !== undefined) definition.set('parameters', tool.parameters);
  return new Map<string, JsonValue>([
    ['type', 'function'],
    ['function', definition],
  ]);
}
