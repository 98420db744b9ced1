// Logits of our engines for some held-out text, as a file that torch/check_logits.py compares with those of transformers.
//   npx jiti models/recipe/check-logits.ts MODEL TEXT.jsonl OUT.json
import { readFileSync, writeFileSync } from 'node:fs'
import { loadBaseModel } from '../../src/engine/files/base-model.ts'
import { project, ReferenceModel } from '../../src/engine/reference/reference-model.ts'
import { forward } from '../../src/engine/reference/transformer.ts'
import { openTokenizer, resolveModelFolder } from '../../src/models/index.ts'

const [name = 'evsys/tiny', file = '', out = ''] = process.argv.slice(2)
const numTexts = 8
const numTokens = 64
const { folder } = await resolveModelFolder(name)
const base = await loadBaseModel(folder, { maxParameters: 1e7, signal: new AbortController().signal })
const model = new ReferenceModel({ baseModel: name, lora: undefined }, base)
const tokenizer = await openTokenizer(folder)
const texts: Int32Array[] = []
const rows: number[] = []
for (const line of readFileSync(file, 'utf8').split('\n').slice(0, numTexts)) {
  const tokens = tokenizer.encode(String(JSON.parse(line).text)).slice(0, numTokens)
  const { normed } = await forward(model, tokens, { breathe: async () => {} })
  texts.push(tokens)
  // One by one: too many for the arguments of a call.
  for (const logit of project(model, 'lm_head', normed, tokens.length)) rows.push(Number(logit.toPrecision(9)))
}
writeFileSync(out, JSON.stringify({ folder, texts: texts.map((tokens) => [...tokens]), logits: { reference: rows } }))
