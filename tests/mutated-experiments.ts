// Valid experiment files, and ways to spoil them. A mutation says which line it changed, so that a test can ask whether the
// error points there or to the line of its parent.

import { type LocatedEntry, type LocatedNode, nodeAt, type Path, pathOf, positionOf } from '../src/config/located.ts'
import { parseYaml } from '../src/config/parse-yaml.ts'
import { Report } from '../src/config/report.ts'
import { keysAt } from '../src/config/schema-walk.ts'
import { ExperimentFile } from '../src/contracts/index.ts'

/** A spoiled file and the lines at which an error may point. */
export interface Mutated {
  readonly text: string
  readonly lines: readonly number[]
}

/** One place of a file that can be spoiled in one way; `pick` chooses among variants. */
export type Site = (pick: number) => Mutated

export const corpus: Readonly<Record<string, string>> = {
  matrix: `version: 1
name: router-lr
description: Does focal loss help?
metadata:
  hypothesis: "Focal loss lifts pass@1 on val by two points or more."
  tags: [router, loss]
  objective:
    metric: val.pass@1
    direction: max
  claim:
    treatment: { algorithm.kind: focal_sft }
    baseline: { algorithm.kind: sft }
    min_effect: 0.02
    confidence: 0.9
  benchmark:
    - name: val
      path: data/val
      run_every: 50
      metrics: [pass@1, pass@3]
      split: val
      num_samples: 3
      temperature: 0.7
    - { name: test, path: data/test, metrics: [pass@1], split: test }
n_repeats: 3
base_seed: 7
budget: { wall: 30m, usd: 5 }
callbacks: [{ kind: local_logger }, { kind: evsys_logger }]
matrix:
  axes:
    algorithm.kind: [sft, focal_sft]
    algorithm.params.learning_rate: [1.0e-5, 1.0e-4]
  name_template: "{base}-{algorithm.kind}-{algorithm.params.learning_rate}"
  base_run:
    data:
      source_kind: jsonl
      path: data/train.jsonl
      transforms:
        - { kind: jsonl_to_chat, params: { user_template: "Query: {query}" } }
        - kind: dedupe
          params: { key: query }
    model: { name: evsys/tiny }
    algorithm: { params: { max_steps: 200, lora_rank: 8 } }
    backend: { kind: local }
`,
  run: `name: single
output_dir: out
log_rollouts: false
plugins: [./lib/one.ts, acme-plugins]
max_concurrent_arms: 2
parent_experiment_id: exp_1
metadata:
  success_metric: 'mean_reward'
  project_goal_id: goal_1
  benchmark:
    name: val
    data: { source_kind: in_memory, rows: [{ task_id: a }] }
    limit: 10
    max_tokens: 64
    n_concurrent: 4
    breakdown_keys: [level]
    engine: harbor
    chat_template: { system_prompt: "Be brief." }
    inference: { kind: mock, params: { template: "{prompt}" } }
compute:
  kind: slurm
  resources: { cpus: 4, memory: 16, use_spot: true }
  envs: { TOKEN: "\${secret:TOKEN}" }
deploy: { kind: folder }
run:
  name: r
  seed: 11
  tags: [a, b]
  data:
    source_kind: in_memory
    rows:
      - { query: hi, tool_slug: greet }
  model:
    name: mock
    renderer_name: plain
    init_from_checkpoint: ./weights
  algorithm:
    kind: sft
    params: { max_steps: 1 }
  backend: { kind: mock }
  agent: { kind: basic_loop }
`,
  runs: `name: several
data: { path: data/train.jsonl }
model: { name: evsys/tiny }
algorithm:
  kind: sft
  params: { max_steps: 10 }
metadata:
  claim: { treatment: big, baseline: base_model, metric: val.pass_rate }
  benchmark: [{ name: val, path: data/val }]
n_repeats: 2
runs:
  - name: small
    algorithm: { params: { lora_rank: 4 } }
  - name: big
    seed: 5
    algorithm: { params: { lora_rank: 64 } }
`,
  stages: `name: staged
run:
  data: { path: data/train.jsonl }
  model: { name: evsys/tiny }
stages:
  - algorithm: { kind: sft, params: { max_steps: 10 } }
  - algorithm: { kind: rl, params: { max_steps: 20 } }
    data: { path: data/rl.jsonl }
`,
  continual: `name: chain
run:
  model: { name: evsys/tiny }
  algorithm: { kind: sft }
continual:
  name_template: '{base}_part{i}'
  datasets:
    - { path: data/a.jsonl }
    - { path: data/b.jsonl }
`,
}

/** All mutations by name, each with the places where it makes a valid file invalid. */
export function mutationsOf(text: string): Record<string, Site[]> {
  const document = read(text)
  const { entries, scalars } = document
  const strict = entries.filter(({ isStrict }) => isStrict)
  const lineEntries = entries.filter(({ entry }) => isOnOneLine(text, entry))
  return {
    'a misspelt key': strict.map((place) => (pick) => replaceSpan(place, place.entry.at, misspelt(place, pick))),
    'a value of the wrong type': strict
      .filter(({ entry }) => isOnOneLine(text, entry))
      .map(
        (place) => () =>
          replaceSpan(place, place.entry.value.origin, place.entry.value.type === 'seq' ? '{ zzz: 1 }' : '[[7]]'),
      ),
    'a missing required key': requiredPlaces(document).map((place) => () => removeEntry(place)),
    'a key given twice': lineEntries.filter(({ isBlock }) => isBlock).map((place) => () => duplicateLine(place)),
    'a number out of range': strict
      .filter(({ entry }) => typeof scalarValue(entry.value) === 'number')
      .map(
        (place) => (pick) =>
          replaceSpan(place, place.entry.value.origin, ['-1', '-0.5', '.inf', '.nan', '1e999'][pick % 5] ?? '-1'),
      ),
    'a word outside of a choice': strict
      .filter(({ entry }) =>
        ['split', 'direction', 'engine', 'version', 'log_rollouts', 'use_spot'].includes(entry.key),
      )
      .map((place) => () => replaceSpan(place, place.entry.value.origin, 'sideways')),
    'a line indented too far': laterSiblings(document).map((place) => (pick) => indentLine(place, 1 + (pick % 3))),
    'a line indented too little': laterSiblings(document)
      .filter(({ indent }) => indent >= 2)
      .map((place) => () => indentLine(place, -1)),
    'a tab for indentation': laterSiblings(document)
      .filter(({ indent }) => indent >= 2)
      .map((place) => () => tabLine(place)),
    'an opened quote': scalars.map(
      (place) => (pick) => insertAt(place, place.node.origin.start, pick % 2 === 0 ? '"' : "'"),
    ),
    'a quote that is not closed': scalars
      .filter(({ node }) => /^["']/.test(text.slice(node.origin.start)))
      .map((place) => () => removeAt(place, place.node.origin.end - 1)),
    'a bracket that is not closed': document.flows.map((place) => () => removeAt(place, place.node.origin.end - 1)),
    'a bracket of the other kind': document.flows.map(
      (place) => () =>
        replaceSpan(
          place,
          { start: place.node.origin.end - 1, end: place.node.origin.end },
          place.node.type === 'map' ? ']' : '}',
        ),
    ),
    'a closing bracket too many': document.flows.map(
      (place) => () => insertAt(place, place.node.origin.end, place.node.type === 'map' ? '}' : ']'),
    ),
    'an unknown alias': scalars.map((place) => () => replaceSpan(place, place.node.origin, '*nowhere')),
    'an unknown tag': scalars.map((place) => () => insertAt(place, place.node.origin.start, '!mine ')),
    'a reserved character': scalars
      .filter(({ node }) => !/^["']/.test(text.slice(node.origin.start)))
      .map((place) => (pick) => insertAt(place, place.node.origin.start, ['@', '`', '%'][pick % 3] ?? '@')),
    'a control character': scalars.map(
      (place) => (pick) => insertAt(place, place.node.origin.start, ['\0', '\x07', '\x1b', '\x7f'][pick % 4] ?? '\0'),
    ),
    'a missing colon': lineEntries
      .filter(
        ({ isBlock, entry }) => isBlock && !/[:#]/.test(text.slice(entry.value.origin.start, entry.value.origin.end)),
      )
      .map((place) => () => replaceSpan(place, { start: place.entry.at.end, end: place.entry.at.end + 1 }, '')),
    'a second document': laterSiblings(document)
      .filter(({ indent }) => indent === 0)
      .map((place) => () => insertLine(place, '---')),
    'a foreign key': strict.map((place) => (pick) => foreignKey(place, pick)),
    'a reference that leads nowhere': entries
      .filter(({ path }) =>
        /(?:objective\.metric|success_metric|claim\.(?:treatment|baseline|metric))$/.test(path.join('.')),
      )
      .map((place) => () => replaceSpan(place, place.entry.value.origin, 'nowhere.nothing')),
    'a second way to say what is run': [
      () => ({ text: `${text}${addedForm(document)}`, lines: [lineCount(text), ...formLines(document)] }),
    ],
  }
}

interface Place {
  readonly text: string
  /** Line of the thing itself. */
  readonly line: number
  /** Line of the key above it; of the first line where it stands at the top. */
  readonly parentLine: number
}

interface EntryPlace extends Place {
  readonly entry: LocatedEntry
  readonly path: Path
  readonly holder: LocatedNode
  /** In a mapping whose keys the schema knows. */
  readonly isStrict: boolean
  /** On a line of its own, not inside brackets. */
  readonly isBlock: boolean
  readonly indent: number
}

interface NodePlace extends Place {
  readonly node: LocatedNode
}

interface Document {
  readonly text: string
  readonly root: LocatedNode
  readonly entries: EntryPlace[]
  readonly scalars: NodePlace[]
  readonly flows: NodePlace[]
}

function read(text: string): Document {
  const source = { name: 'e.yaml', text, dir: '/project', rank: 0 }
  const root = parseYaml(source, new Report())
  if (root === undefined) throw new Error('the corpus is not valid YAML')
  const document: Document = { text, root, entries: [], scalars: [], flows: [] }
  visit(root, 1, document)
  return document
}

function visit(node: LocatedNode, parentLine: number, document: Document): void {
  const { text } = document
  const { origin } = node
  const place = { text, node, line: lineOf(node.origin.source, origin.start), parentLine }
  if (node.type === 'scalar') {
    document.scalars.push(place)
    return
  }
  const isFlow = /^[[{]/.test(text.slice(origin.start)) && origin.isBlock !== true
  if (isFlow) document.flows.push(place)
  const below =
    origin.key === undefined ? (origin.parent === undefined ? 1 : place.line) : lineOf(origin.source, origin.key.start)
  if (node.type === 'seq') for (const item of node.items) visit(item, below, document)
  if (node.type !== 'map') return
  const known = keysAt(ExperimentFile, pathOf(origin))
  for (const entry of node.entries.values()) {
    const line = lineOf(origin.source, entry.at.start)
    const lineStart = text.lastIndexOf('\n', entry.at.start - 1) + 1
    document.entries.push({
      text,
      line,
      parentLine: below,
      entry,
      path: pathOf(entry.at),
      holder: node,
      isStrict: known.includes(entry.key) && !/matrix\.axes/.test(pathOf(origin).join('.')),
      isBlock: !isFlow,
      indent: entry.at.start - lineStart,
    })
    visit(entry.value, line, document)
  }
}

function lineOf(source: Parameters<typeof positionOf>[0], offset: number): number {
  return positionOf(source, offset).line
}

function isOnOneLine(text: string, { at, value }: LocatedEntry): boolean {
  return !text.slice(at.start, value.origin.end).includes('\n')
}

function scalarValue(node: LocatedNode): unknown {
  return node.type === 'scalar' ? node.value : undefined
}

/** Places that must not be missing. A run's parts are required unless axes, shorthands or stages supply them. */
function requiredPlaces({ entries, root }: Document): EntryPlace[] {
  const isThere = (path: Path) => nodeAt(root, path) !== undefined
  return entries.filter(({ path, entry, holder }) => {
    const text = path.join('.')
    const isOnlyKey =
      holder.type === 'map' && holder.entries.size === 1 && typeof pathOf(holder.origin).at(-1) === 'number'
    if (isOnlyKey || (path.length === 1 && text !== 'name' && isThere(['runs']))) return false
    if (text === 'name' || /(?:^|\.)model\.name$/.test(text)) return true
    if (/^(?:run|matrix\.base_run|)\.?data$/.test(text)) return !isThere(['continual'])
    if (/^(?:run|matrix\.base_run|)\.?model$/.test(text)) return true
    if (/^run\.algorithm(?:\.kind)?$/.test(text)) return !isThere(['stages'])
    if (/(?:callbacks|transforms|stages|datasets)\.\d+\.(?:kind|algorithm|path)$/.test(text)) return true
    if (/(?:^|\.)(?:deploy|inference|agent|backend)\.kind$/.test(text)) return true
    if (/(?:claim\.(?:treatment|baseline)|objective\.metric|continual\.datasets|data\.(?:path|rows))$/.test(text))
      return true
    return entry.key === 'source_kind' && nodeAt(holder, ['rows']) !== undefined
  })
}

// Not the first of its mapping, and not behind a value that ends with a deeper block: there a deeper line may be at home.
function laterSiblings({ entries }: Document): EntryPlace[] {
  return entries.filter(({ entry, holder, isBlock, text }) => {
    if (!isBlock || holder.type !== 'map') return false
    const siblings = [...holder.entries.values()]
    const before = siblings[siblings.indexOf(entry) - 1]
    return before !== undefined && isOnOneLine(text, before)
  })
}

function misspelt({ entry, holder }: EntryPlace, pick: number): string {
  const known = [
    ...keysAt(ExperimentFile, pathOf(holder.origin)),
    ...(holder.type === 'map' ? holder.entries.keys() : []),
  ]
  const { key } = entry
  const at = pick % key.length
  const variants = [
    `${key.slice(0, at)}${key.slice(at + 1)}`,
    `${key.slice(0, at)}x${key.slice(at)}`,
    `${key.slice(0, at)}${key.charAt(at + 1)}${key.charAt(at)}${key.slice(at + 2)}`,
    `${key}s_`,
  ]
  return variants.find((each) => each !== '' && !known.includes(each)) ?? `${key}_zzz`
}

function foreignKey({ text, entry, line, parentLine, isBlock, indent }: EntryPlace, pick: number): Mutated {
  const key = ['wibble', 'toString', 'constructor', '"a.b"', 'ünïcode', 'max_step'][pick % 6]
  const added = isBlock ? `${key}: 1\n${' '.repeat(indent)}` : `${key}: 1, `
  return { text: splice(text, entry.at.start, entry.at.start, added), lines: [line, line + 1, parentLine] }
}

function replaceSpan(
  { text, line, parentLine }: Place,
  { start, end }: { start: number; end: number },
  by: string,
): Mutated {
  return { text: splice(text, start, end, by), lines: [line, parentLine] }
}

function insertAt(place: Place, at: number, added: string): Mutated {
  return replaceSpan(place, { start: at, end: at }, added)
}

function removeAt(place: Place, at: number): Mutated {
  return replaceSpan(place, { start: at, end: at + 1 }, '')
}

function removeEntry({ text, entry, isBlock, line, parentLine }: EntryPlace): Mutated {
  const { start } = entry.at
  const { end } = entry.value.origin
  if (!isBlock) {
    const after = /^\s*,\s*/.exec(text.slice(end))?.[0].length ?? 0
    const before = after > 0 ? 0 : (/,\s*$/.exec(text.slice(0, start))?.[0].length ?? 0)
    return { text: splice(text, start - before, end + after, ''), lines: [line, parentLine] }
  }
  const lineStart = text.lastIndexOf('\n', start - 1) + 1
  const isItem = /-\s*$/.test(text.slice(lineStart, start))
  if (isItem) {
    const next = /^\n\s*/.exec(text.slice(end))?.[0].length ?? 0
    return { text: splice(text, start, end + next, ''), lines: [line, parentLine] }
  }
  return { text: splice(text, lineStart, Math.min(text.length, end + 1), ''), lines: [line, parentLine] }
}

function duplicateLine({ text, entry, line, indent }: EntryPlace): Mutated {
  const { end } = entry.value.origin
  const copy = `\n${' '.repeat(indent)}${text.slice(entry.at.start, end)}`
  return { text: splice(text, end, end, copy), lines: [line, line + 1] }
}

function indentLine({ text, entry, line, parentLine }: EntryPlace, by: number): Mutated {
  const lineStart = text.lastIndexOf('\n', entry.at.start - 1) + 1
  const changed =
    by > 0 ? splice(text, lineStart, lineStart, ' '.repeat(by)) : splice(text, lineStart, lineStart - by, '')
  return { text: changed, lines: [line, parentLine] }
}

function tabLine({ text, entry, line, parentLine }: EntryPlace): Mutated {
  const lineStart = text.lastIndexOf('\n', entry.at.start - 1) + 1
  return { text: splice(text, lineStart, entry.at.start, '\t'), lines: [line, parentLine] }
}

function insertLine({ text, entry, line }: EntryPlace, added: string): Mutated {
  const lineStart = text.lastIndexOf('\n', entry.at.start - 1) + 1
  return { text: splice(text, lineStart, lineStart, `${added}\n`), lines: [line] }
}

function addedForm({ root }: Document): string {
  return nodeAt(root, ['matrix']) === undefined ? 'matrix: { axes: { seed: [1, 2] } }\n' : 'run: { name: other }\n'
}

function formLines({ entries }: Document): number[] {
  return entries.filter(({ path }) => path.length === 1).map(({ line }) => line)
}

function lineCount(text: string): number {
  return text.split('\n').length
}

function splice(text: string, start: number, end: number, by: string): string {
  return text.slice(0, start) + by + text.slice(end)
}
