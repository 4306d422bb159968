// The history that the benches of the renderer use; run by itself it does nothing.

/** An agent's history: calls with arguments of every type, answers of half a kilobyte, tools with nested schemas. */
export function history(messages, tools) {
  const schema = (index) => ({
    type: 'object',
    properties: {
      path: { type: 'string', description: `File ${index} to work on, relative to the project` },
      limit: { type: 'integer', description: 'Most lines to read', minimum: 0, maximum: 1000 },
      mode: { type: 'string', enum: ['read', 'write', 'append'] },
      options: {
        type: 'object',
        properties: { deep: { type: 'boolean' }, names: { type: 'array', items: { type: 'string' } } },
        required: ['deep'],
      },
    },
    required: ['path', 'mode'],
  });
  const definitions = Array.from({ length: tools }, (_, index) => ({
    type: 'function',
    function: {
      name: `tool_${index}`,
      description: `Does thing number ${index} with a file and says what became of it.`,
      parameters: schema(index),
    },
  }));
  const turns = [
    { role: 'system', content: 'You are a careful programmer.' },
    { role: 'user', content: 'Make the tests green.' },
  ];
  for (let index = 0; turns.length < messages - 1; index++) {
    const call = {
      id: `call_${index}`,
      type: 'function',
      function: {
        name: `tool_${index % tools}`,
        arguments: { path: `src/part-${index}.ts`, limit: index, mode: 'read', deep: index % 2 === 0 },
      },
    };
    turns.push({
      role: 'assistant',
      content: `Step ${index}: I look at the next file.`,
      reasoning_content: 'The failure must come from this part. '.repeat(4),
      tool_calls: [call],
    });
    turns.push({
      role: 'tool',
      tool_call_id: `call_${index}`,
      name: `tool_${index % tools}`,
      content: `line ${index}: const value = compute(${index}); // "quoted" & <tagged>\n`.repeat(9),
    });
  }
  turns.push({ role: 'user', content: 'Go on.' });
  return { messages: turns, tools: definitions, add_generation_prompt: true, bos_token: '<s>', eos_token: '</s>', documents: null };
}
