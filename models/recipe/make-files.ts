// Writes models/: the files that describe each model, its tokenizer and weights from WORK where they are, and the digests of all.
//   npx jiti models/recipe/make-files.ts [WORK]
// Without trained weights in WORK/out, the tokenizers and weights that are in models/ stay.
import { copyFileSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { sha256 } from '../../src/kernel/index.ts'
import { bundledFileNames, bundledNames, folderOf } from '../../src/models/folders/bundled-models.ts'
import { bundledConfig, bundledGenerationConfig, bundledShapes, bundledTokenizerConfig } from './bundled-files.ts'

const work = process.argv[2] ?? '.tmp/model'
const models = fileURLToPath(new URL('..', import.meta.url))
const digests: Record<string, Record<string, string>> = {}
for (const name of bundledNames) {
  const shape = bundledShapes[name]
  const folder = join(models, folderOf(name))
  mkdirSync(folder, { recursive: true })
  writeFileSync(join(folder, 'config.json'), json(bundledConfig(shape)))
  writeFileSync(join(folder, 'generation_config.json'), json(bundledGenerationConfig(shape)))
  writeFileSync(join(folder, 'tokenizer_config.json'), json(bundledTokenizerConfig(shape)))
  const weights = join(work, `out/${folderOf(name)}.safetensors`)
  if (existsSync(weights)) {
    copyFileSync(weights, join(folder, 'model.safetensors'))
    copyFileSync(join(work, `tokenizer/${shape.vocabSize}.json`), join(folder, 'tokenizer.json'))
  }
  digests[name] = Object.fromEntries(bundledFileNames.map((file) => [file, sha256(readFileSync(join(folder, file)))]))
}
writeFileSync(join(models, 'digests.json'), json(digests))

function json(value: object): string {
  return `${JSON.stringify(value, null, 2)}\n`
}
