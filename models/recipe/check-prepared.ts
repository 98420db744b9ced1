// Whether the text, dialogues and tokenizers in WORK are, byte for byte, those that the models were made from.
//   npx jiti models/recipe/check-prepared.ts [WORK]
// Ends with 1 where one is not. The digests are in prepared-digests.json; those of two tokenizers are in models/digests.json too.
import { createHash } from 'node:crypto'
import { createReadStream, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { pipeline } from 'node:stream/promises'

const work = process.argv[2] ?? '.tmp/model'
const recorded: Record<string, string> = readJson('./prepared-digests.json')
const shipped = readJson('../digests.json')
const wanted = {
  ...recorded,
  'tokenizer/512.json': shipped['evsys/nano']['tokenizer.json'],
  'tokenizer/4096.json': shipped['evsys/tiny']['tokenizer.json'],
}
for (const [file, digest] of Object.entries(wanted)) {
  const hash = createHash('sha256')
  await pipeline(createReadStream(join(work, file)), hash)
  const isSame = hash.digest('hex') === digest
  console.log(`${isSame ? 'as recorded' : 'DIFFERENT'}  ${file}`)
  if (!isSame) process.exitCode = 1
}

function readJson(file: string) {
  return JSON.parse(readFileSync(new URL(file, import.meta.url), 'utf8'))
}
