// Tokenizers from the text and the dialogues, one training for all sizes: a smaller vocabulary has the first merges of a larger.
//   npx jiti models/recipe/make-tokenizers.ts [WORK] [SIZE...]
// Writes tokenizer/SIZE.json for each size.
import { createReadStream, mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { byteCharacters } from '../../src/models/tokenizer/token-bytes.ts'
import { numMerges, tokenizerFile, wordPattern } from './tokenizer/tokenizer-file.ts'
import { trainBpe } from './tokenizer/train-bpe.ts'

const [work = '.tmp/model', ...sizes] = process.argv.slice(2)
const vocabSizes = sizes.length === 0 ? [512, 4096] : sizes.map(Number)
// Words that are rarer say nothing about frequent pairs.
const minCount = 4

const bytes = byteCharacters()
const counts = new Map<string, number>()
for await (const line of linesOf('text/train.jsonl')) count(String(JSON.parse(line).text))
for await (const line of linesOf('dialogues/train.jsonl')) {
  for (const { content, tool_calls = [] } of JSON.parse(line).messages) {
    count(String(content))
    for (const { function: call } of tool_calls)
      count(
        `\n{"name": "${call.name}", "arguments": ${JSON.stringify(call.arguments).replaceAll('":', '": ').replaceAll(',"', ', "')}}\n`,
      )
  }
}
const frequent = new Map<string, number>()
for (const [word, number] of counts) {
  if (number < minCount) continue
  frequent.set(Array.from(Buffer.from(word, 'utf8'), (byte) => bytes[byte]).join(''), number)
}
console.log(`${counts.size} words, ${frequent.size} of them frequent`)
const merges = trainBpe(frequent, numMerges(Math.max(...vocabSizes)))
mkdirSync(join(work, 'tokenizer'), { recursive: true })
for (const size of vocabSizes) {
  if (merges.length < numMerges(size))
    throw new RangeError(`the text gives ${merges.length} merges, too few for ${size} tokens`)
  writeFileSync(
    join(work, `tokenizer/${size}.json`),
    `${JSON.stringify(tokenizerFile(bytes, merges.slice(0, numMerges(size))))}\n`,
  )
}

function count(text: string): void {
  for (const [word] of text.matchAll(wordPattern)) counts.set(word, (counts.get(word) ?? 0) + 1)
}

function linesOf(file: string): AsyncIterable<string> {
  return createInterface({ input: createReadStream(join(work, file)), crlfDelay: Number.POSITIVE_INFINITY })
}
