// Every file of models/, as text by its path: what the repository holds and a test makes again.
import { sha256 } from '../../kernel/index.ts'
import {
  type BundledName,
  bundledConfig,
  bundledGenerationConfig,
  bundledModels,
  bundledTokenizerConfig,
} from './bundled-models.ts'
import { bundledTokenizer } from './bundled-tokenizer.ts'
import { bundledWeights } from './bundled-weights.ts'
import { sourceText } from './source-text.ts'

/** The files of all bundled models and the digests of their weights. */
export function bundledFiles({ prose, words }: { prose: string; words: string }): Map<string, string> {
  const text = sourceText(prose, wordsOf(words))
  const files = new Map<string, string>()
  const digests: Record<string, string> = {}
  for (const name of Object.keys(bundledModels) as BundledName[]) {
    const shape = bundledModels[name]
    const folder = folderOf(name)
    files.set(`${folder}/config.json`, json(bundledConfig(shape)))
    files.set(`${folder}/generation_config.json`, json(bundledGenerationConfig(shape)))
    files.set(`${folder}/tokenizer_config.json`, json(bundledTokenizerConfig(shape)))
    files.set(`${folder}/tokenizer.json`, `${JSON.stringify(bundledTokenizer(shape, text))}\n`)
    digests[name] = sha256(bundledWeights(name))
  }
  return files.set('digests.json', json(digests))
}

/** The folder of a bundled model in models/. */
export function folderOf(name: BundledName): string {
  return name.slice('evsys/'.length)
}

/** The files of a bundled model beside its weights. */
export const describingFiles = ['config.json', 'generation_config.json', 'tokenizer.json', 'tokenizer_config.json']

function wordsOf(text: string): string[] {
  const lines = text.split('\n').filter((line) => !line.startsWith('#'))
  return [...new Set(lines.join(' ').split(' '))].filter((word) => word !== '')
}

function json(value: object): string {
  return `${JSON.stringify(value, null, 2)}\n`
}
