// Bits per byte of a model on the held-out text, by the engine of this machine: the same tokens and bytes as score-kneser-ney.ts.
//   npx jiti models/recipe/score-model.ts [WORK] [MODEL] [EVERY]
// Every token is scored with at least 512 others before it, where there are as many; ends of documents count too. With EVERY, one window
// of so many is scored, for an estimate in less time.
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { mapConcurrent } from '../../src/kernel/index.ts'
import { resolveModelFolder } from '../../src/models/index.ts'
import { openLocalClient } from './tasks/local-client.ts'
import { createEncoder } from './tokenizer/encode-text.ts'

const [work = '.tmp/model', model = 'evsys/tiny', every = '1'] = process.argv.slice(2)
// The longest prompt that leaves room for the one token that a request draws.
const length = 1023
const before = 512
const { folder } = await resolveModelFolder(model)
const { encode, end } = createEncoder(join(folder, 'tokenizer.json'))
const bytesOf = tokenBytes(join(folder, 'tokenizer.json'))
const stream = [end]
for (const line of readFileSync(join(work, 'text/heldout.jsonl'), 'utf8').trimEnd().split('\n'))
  stream.push(...encode(String(JSON.parse(line).text)), end)

const starts: number[] = []
for (let start = 0, n = 0; start + before < stream.length; start += length - before, n++)
  if (n % Number(every) === 0) starts.push(start)
await using local = await openLocalClient([model])
const sampler = await local.client.sampler({ baseModel: model })
let [nats, bytes, tokens] = [0, 0, 0]
await mapConcurrent(starts, { limit: 8, signal: new AbortController().signal }, async (start) => {
  const window = stream.slice(start, start + length)
  const logprobs = await sampler.logprobs(Int32Array.from(window))
  for (let at = start === 0 ? 1 : before; at < window.length; at++) {
    nats -= logprobs[at] ?? Number.NaN
    bytes += bytesOf.get(window[at] ?? -1) ?? 0
    tokens++
  }
})
console.log(JSON.stringify({ model, tokens, bytes, bits_per_byte: Number((nats / Math.LN2 / bytes).toFixed(4)) }))

// A token of the vocabulary is written with one character for each of its bytes; those of the end and of turns stand for none.
function tokenBytes(file: string): Map<number, number> {
  const { model: bpe, added_tokens: added } = JSON.parse(readFileSync(file, 'utf8'))
  const sizes = Object.entries(bpe.vocab).map(([text, id]): [number, number] => [Number(id), [...text].length])
  return new Map([...sizes, ...added.map(({ id }: { id: number }): [number, number] => [id, 0])])
}
