// Writes the bundled models of models/: tokenizers learned from models/source, the files that describe the models, and the
// digests of their weights, which are made on first use. `--check` writes nothing and fails where a file would change.
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { bundledFiles } from '../src/models/bundled/bundled-files.ts'

const root = fileURLToPath(new URL('../models', import.meta.url))
const isCheck = process.argv.includes('--check')

const prose = readFileSync(join(root, 'source/prose.txt'), 'utf8')
const words = readFileSync(join(root, 'source/words.txt'), 'utf8')
let changed = 0
for (const [path, text] of bundledFiles({ prose, words })) {
  const file = join(root, path)
  if (read(file) === text) continue
  changed++
  console.log(`${isCheck ? 'differs' : 'written'}: models/${path}`)
  if (isCheck) continue
  mkdirSync(dirname(file), { recursive: true })
  writeFileSync(file, text)
}
console.log(changed === 0 ? 'models/ is as its source says.' : `${changed} files ${isCheck ? 'differ' : 'written'}.`)
process.exitCode = isCheck && changed > 0 ? 1 : 0

function read(file: string): string | undefined {
  try {
    return readFileSync(file, 'utf8')
  } catch {
    return undefined
  }
}
