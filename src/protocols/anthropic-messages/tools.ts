import { isJsonObject, type JsonObject, type JsonValue } from '../../canonical/json-value.js';
import type { ToolDefinition } from '../../canonical/message.js';
import { type ListedTool, type SplitTools, splitTools } from '../deferred-tools.js';
import { invalidField, member, optionalArray, shown, unsupported } from '../request-fields.js';
import { toolDefinition } from '../tool-definition.js';

/** The tools of a request, before it is known which of them messages refer to. */
export interface RequestTools {
  readonly byName: ReadonlyMap<string, ToolDefinition>;
  /** The same lists as the last time where they say the same. */
  readonly split: (references: ReadonlySet<string>) => SplitTools;
}
export type KnownTools = WeakMap<readonly JsonValue[], RequestTools>;

/** @param known tools by their JSON */
export function parseTools(body: JsonObject, known?: KnownTools): RequestTools {
  const list = optionalArray(body, 'tools');
  const before = known?.get(list);
  if (before !== undefined) return before;
  const tools = requestTools(list.map(parseTool));
  known?.set(list, tools);
  return tools;
}

function requestTools(listed: readonly ListedTool[]): RequestTools {
  let last: SplitTools | null = null;
  return {
    byName: new Map(listed.map((tool) => [tool.definition.name, tool.definition])),
    split: (references) => {
      const split = splitTools(listed, references);
      if (last === null || split.head.length !== last.head.length || split.head.some((tool, i) => tool !== last!.head[i])) last = split;
      return last;
    },
  };
}

function parseTool(tool: JsonValue, i: number): ListedTool {
  const path = `tools[${i}]`;
  if (!isJsonObject(tool)) throw invalidField(path, 'an object', tool);
  const type = member(tool, 'type') ?? 'custom';
  if (type !== 'custom') {
    throw unsupported(
      path,
      `tools of type ${shown(type)} run at the vendor; only tools with a name and an \`input_schema\` can be rendered`,
    );
  }
  return { definition: toolDefinition(tool, 'input_schema', path), deferred: tool.get('defer_loading') === true };
}
