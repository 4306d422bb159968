/** The product's own tokenizer, for the part of a turn's work that nobody can leave out. DIST names another compiled folder. */
export async function productEncoder(modelDir) {
  const dist = new URL(process.env.DIST ?? '../../dist/', import.meta.url);
  const { loadModelDirectory } = await import(new URL('rendering/model-directory.js', dist));
  const { loadTokenizer } = await import(new URL('rendering/tokenizer.js', dist));
  const tokenizer = loadTokenizer(loadModelDirectory(modelDir));
  return (text) => tokenizer.encode(text);
}
