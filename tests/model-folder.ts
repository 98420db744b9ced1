// Model folders for tests: one of the reference tokenizers, or a bundled one, with other files beside it.
import { cpSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

const root = fileURLToPath(new URL('..', import.meta.url))

/** What the reference implementation makes of a text: see scripts/tokenizer-fixtures.py. */
export type ReferenceCase = { text: string; special: number[]; plain: number[]; decoded: string }

export const referenceCases: Record<string, ReferenceCase[]> = read('expected.json')

/** Conversations and the tokens that the reference implementation makes of them, by bundled model. */
export const referenceChats: Record<
  'nano' | 'tiny',
  { messages: unknown[]; text: string; tokens: number[]; prompt: number[] }[]
> = read('chats.json')

/** Writes a model's folder at `folder`: `name` is a reference tokenizer or a bundled model; `files` come on top. */
export function writeModelFolder(folder: string, name: string, files: Record<string, unknown> = {}): string {
  mkdirSync(folder, { recursive: true })
  if (name.startsWith('evsys/')) cpSync(`${root}models/${name.slice(6)}`, folder, { recursive: true })
  else cpSync(`${root}tests/fixtures/tokenizers/${name}.json`, join(folder, 'tokenizer.json'))
  for (const [file, content] of Object.entries(files)) {
    writeFileSync(join(folder, file), typeof content === 'string' ? content : JSON.stringify(content))
  }
  return folder
}

function read(file: string) {
  return JSON.parse(readFileSync(`${root}tests/fixtures/tokenizers/${file}`, 'utf8'))
}
