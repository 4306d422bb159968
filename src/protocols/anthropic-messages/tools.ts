import { isJsonArray, isJsonObject, type JsonObject, type JsonValue } from '../../canonical/json-value.js';
import type { ToolDefinition } from '../../canonical/message.js';
import { type ListedTool, type SplitTools, splitTools } from '../deferred-tools.js';
import { invalidField, member, optionalArray, shown, unsupported } from '../request-fields.js';
import { toolDefinition } from '../tool-definition.js';

/** A request's tools by place and by name. */
export interface RequestTools extends SplitTools {
  readonly byName: ReadonlyMap<string, ToolDefinition>;
}

export function parseTools(body: JsonObject): RequestTools {
  const listed = optionalArray(body, 'tools').map(parseTool);
  const byName = new Map(listed.map((tool) => [tool.definition.name, tool.definition]));
  return { ...splitTools(listed, referencedTools(body)), byName };
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

/** Names of all tools that results refer to. Shapes are not checked here: reading the messages does it. */
function referencedTools(body: JsonObject): ReadonlySet<string> {
  const names = new Set<string>();
  for (const message of blocksOf(body.get('messages'))) {
    for (const block of blocksOf(message.get('content'))) {
      if (block.get('type') !== 'tool_result') continue;
      for (const part of blocksOf(block.get('content'))) {
        const name = part.get('type') === 'tool_reference' ? part.get('tool_name') : undefined;
        if (typeof name === 'string') names.add(name);
      }
    }
  }
  return names;
}

const blocksOf = (value: JsonValue | undefined): readonly JsonObject[] => (isJsonArray(value) ? value.filter(isJsonObject) : []);
