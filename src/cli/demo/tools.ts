/** The tools that the demo's agents hold, once for both dialects. */
export interface DemoTool {
  readonly name: string;
  readonly description: string;
  readonly parameters: {
    readonly type: 'object';
    readonly properties: Readonly<Record<string, object>>;
    readonly required: readonly string[];
  };
}

const tool = (name: string, description: string, properties: Readonly<Record<string, object>>): DemoTool => ({
  name,
  description,
  parameters: { type: 'object', properties, required: Object.keys(properties) },
});

const TEXT = { type: 'string' };
const NUMBER = { type: 'integer' };

export const CODING_TOOLS: readonly DemoTool[] = [
  tool('list_files', 'Names of the files in a directory.', { directory: TEXT }),
  tool('read_file', 'The first lines of a file.', { path: TEXT, limit: NUMBER }),
  tool('write_file', 'Replaces a file.', { path: TEXT, content: TEXT }),
  tool('run_tests', 'Runs all tests and prints the outcome.', {}),
];
export const WEATHER_TOOLS: readonly DemoTool[] = [
  tool('get_weather', 'The weather of a city.', { city: TEXT, unit: { type: 'string', enum: ['celsius', 'fahrenheit'] } }),
];
export const RESEARCH_TOOLS: readonly DemoTool[] = [
  tool('delegate', 'Gives a question to another agent and returns its answer.', { question: TEXT }),
];
export const SEARCH_TOOLS: readonly DemoTool[] = [tool('search_notes', 'Notes that fit a query.', { query: TEXT, limit: NUMBER })];

export type Arguments = Readonly<Record<string, unknown>>;
/** Runs one call; results are text. */
export type ToolBox = (name: string, args: Arguments) => Promise<string>;

/** A small project whose tests pass only after the file was written `writesNeeded` times. */
export function codingBox(writesNeeded: number): ToolBox {
  const files = new Map([
    ['README.md', '# total\n\nAdds numbers.'],
    ['total.py', 'def total(values):\n    return 0'],
    ['test_total.py', 'from total import total\n\n\ndef test_total():\n    assert total([1, 2]) == 3'],
  ]);
  let writes = 0;
  return async (name, args) => {
    switch (name) {
      case 'list_files':
        return [...files.keys()].join('\n');
      case 'read_file':
        return files.get(String(args.path)) ?? `no such file: ${String(args.path)}`;
      case 'write_file':
        files.set(String(args.path), String(args.content));
        writes++;
        return `wrote ${String(args.path)}`;
      case 'run_tests':
        return writes >= writesNeeded ? '2 passed' : 'test_total FAILED: assert 0 == 3\n1 failed, 1 passed';
      default:
        return `no such tool: ${name}`;
    }
  };
}

const WEATHER = ['sunny', 'rainy', 'windy', 'foggy'];

export const weatherBox: ToolBox = async (_name, args) => {
  const city = String(args.city);
  return `${WEATHER[city.length % WEATHER.length]}, ${10 + (city.length % 12)} °C`;
};

export const searchBox: ToolBox = async (_name, args) => `A note on “${String(args.query)}” says that much is known and little is certain.`;
