// Logits of the reference engine for some held-out text, as a file that check_logits.py compares with those of transformers.
//   npx jiti models/recipe/check-logits.ts MODEL TEXT.jsonl OUT.json
import { readFileSync, writeFileSync } from 'node:fs'
import { loadBaseModel } from '../../src/engine/files/base-model.ts'
import { project } from '../../src/engine/reference/projection.ts'
import { ReferenceModel } from '../../src/engine/reference/reference-model.ts'
import { forward } from '../../src/engine/reference/transformer.ts'
import { openTokenizer, resolveModelFolder } from '../../src/models/index.ts'

const [name = 'evsys/tiny', texts = '', out = ''] = process.argv.slice(2)
const { folder } = await resolveModelFolder(name)
const base = await loadBaseModel(folder, { maxParameters: 1e7, signal: new AbortController().signal })
const model = new ReferenceModel({ baseModel: name, lora: undefined }, base)
const tokenizer = await openTokenizer(folder)
const cases = []
for (const line of readFileSync(texts, 'utf8').split('\n').slice(0, 4)) {
  const tokens = tokenizer.encode(String(JSON.parse(line).text)).slice(0, 48)
  const { normed } = await forward(model, tokens, { breathe: async () => {} })
  cases.push({ tokens: [...tokens], logits: [...project(model, 'lm_head', normed, tokens.length)] })
}
writeFileSync(out, JSON.stringify({ folder, cases }))
