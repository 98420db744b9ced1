// Bits per byte of a modified Kneser-Ney 5-gram on the held-out text: the same tokens, the same text, the same bytes as the model.
//   node --max-old-space-size=12000 node_modules/.bin/jiti models/recipe/score-kneser-ney.ts [WORK] [VOCABULARY] [ORDER]
import { createReadStream } from 'node:fs'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { trainKneserNey } from './kneser-ney/kneser-ney.ts'
import { createEncoder } from './tokenizer/encode-text.ts'

const [work = '.tmp/model', vocabulary = '4096', order = '5'] = process.argv.slice(2)
const { encode, vocabSize, end } = createEncoder(join(work, `tokenizer/${vocabulary}.json`))
const train = await streamOf('train')
console.log(`train: ${train.tokens.length} tokens, ${train.bytes} bytes`)
const heldout = await streamOf('heldout')
console.log(`heldout: ${heldout.tokens.length} tokens, ${heldout.bytes} bytes`)
const model = trainKneserNey(train.tokens, { order: Number(order), vocabSize })
console.log(`bits per byte, order ${order}: ${(model.bits(heldout.tokens) / heldout.bytes).toFixed(4)}`)

// Documents one after the other, each closed by the token of the end.
async function streamOf(split: string): Promise<{ tokens: Uint16Array; bytes: number }> {
  let tokens = new Uint16Array(1 << 20)
  let [length, bytes] = [0, 0]
  const push = (token: number) => {
    if (length === tokens.length) {
      const larger = new Uint16Array(2 * length)
      larger.set(tokens)
      tokens = larger
    }
    tokens[length++] = token
  }
  push(end)
  const lines = createInterface({
    input: createReadStream(join(work, `text/${split}.jsonl`)),
    crlfDelay: Number.POSITIVE_INFINITY,
  })
  for await (const line of lines) {
    const text = String(JSON.parse(line).text)
    bytes += Buffer.byteLength(text)
    for (const token of encode(text)) push(token)
    push(end)
  }
  return { tokens: tokens.slice(0, length), bytes }
}
