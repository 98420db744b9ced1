// Writes the reference pages of the file formats from their schemas: `npm run docs`. A test fails when the committed pages differ.

import { mkdirSync, writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import * as z from 'zod'
import { type AnyPlugin, DataConfig, ExperimentFile, PluginSpec, PluginType, TaskFile } from '../src/contracts/index.ts'
import { allBuiltins } from '../src/research/index.ts'
import { type Fault, faults } from '../tests/faults/fault-table.ts'
import { type JsonSchema, renderPluginsPage, renderReferencePage } from './reference-page.ts'

const folder = fileURLToPath(new URL('../docs/reference', import.meta.url))

/** Generated pages by file name. */
export function referencePages(): Record<string, string> {
  return {
    'experiment-file.md': renderReferencePage(schemaOf(ExperimentFile), {
      title: 'Experiment file',
      intro:
        'Exactly one of `run`, `runs` and `matrix` says what is trained; `data`, `model`, `algorithm` and `backend` at the root are short for `run`. Unknown keys are errors. `evsys schema experiment` prints the same as JSON Schema.',
      shared: { data: schemaOf(DataConfig), plugin: schemaOf(PluginSpec) },
    }),
    'task-file.md': renderReferencePage(schemaOf(TaskFile), {
      title: 'Task file',
      intro:
        'One command with parameters, for jobs and for research. Unknown keys are errors at every level. `evsys schema task` prints the same as JSON Schema.',
    }),
  }
}

/** Where a plugin of each type is named, and what evsys does with it. */
const types: Readonly<Record<PluginType, string>> = {
  algorithm: '`algorithm:` of a run. What is trained on, step by step, or a whole run.',
  backend: '`backend:` of a run. Where it trains.',
  transform: '`data.transforms:` of a run. Rows in, rows out.',
  data_source: '`data.source_kind:` of a run. Reads rows.',
  data_store: '`data_store:`. Nothing reads from one yet: an experiment that names one is refused.',
  log_store: '`log_store:`. Nothing writes to one yet: an experiment that names one is refused; write a callback.',
  metric: '`metrics:` of a benchmark. Rewards of all tasks in, one number out.',
  verifier: '`verifier:` of a task or benchmark. One answer in, its reward out.',
  inference_client: '`inference:` of a benchmark, `client:` of a teacher or a judge. Asks a model for answers.',
  callback: '`callbacks:` of an experiment. Receives the events of every run.',
  deployer: '`deploy:`. Nothing deploys yet: an experiment that names one is refused.',
  agent: '`agent:` of a run or benchmark. Calls a model in a loop to solve a task.',
  environment: '`environment:` of a run or benchmark. Where the commands of a task folder run.',
  renderer: '`model.renderer_name:` of a run. Chat messages to tokens and back.',
  proposer: '`evsys research run --proposer`. Thinks of the next idea.',
  strategy: '`evsys research run --strategy`. Chooses the base of the next idea, and what is asked for.',
  keep_rule: '`evsys research run --keep-rule`. Decides which candidates are kept.',
  provider: '`compute:`. Nothing is submitted yet: an experiment that names another than `local` is refused.',
  trace_source: 'Nothing reads traces yet.',
}

/** Pages of built-in plugins by file name, one for each type. */
export async function pluginPages(): Promise<Record<string, string>> {
  const plugins = await allBuiltins()
  const pages = PluginType.options.map((type) => {
    const documented = plugins.filter((plugin) => plugin.type === type).map(documentedPlugin)
    const title = `${type.charAt(0).toUpperCase()}${type.slice(1).replaceAll('_', ' ')} plugins`
    const known =
      documented.length === 0 ? 'evsys brings none.' : `\`evsys schema ${type} KIND\` prints params as JSON Schema.`
    return [`plugins/${type.replaceAll('_', '-')}.md`, renderPluginsPage(title, `${types[type]} ${known}`, documented)]
  })
  return Object.fromEntries(pages)
}

function documentedPlugin(plugin: AnyPlugin) {
  const facts = {
    ...('rowFormat' in plugin ? { row_format: String(plugin.rowFormat) } : {}),
    ...('direction' in plugin ? { direction: String(plugin.direction) } : {}),
  }
  return { kind: plugin.kind, summary: plugin.summary, schema: schemaOf(plugin.params), facts }
}

/** The page of what happens when something fails, from the table that its test makes happen. */
export function faultsPage(): string {
  const parts = [...new Set(faults.map(({ part }) => part))]
  return `# When something fails

What a command says when something that it depends on is absent, slow, dies or answers nonsense. Each row is made to happen by a test.
Text and \`--json\` hold the same message and code; what a command waits for is printed on stderr within seconds, and again ever less often.
The first Ctrl-C saves and ends it with exit code 130; a run that reports nothing for ten seconds more is ended, and \`--resume\` begins at
its last checkpoint. The second Ctrl-C ends everything at once. \`--strict\` makes a run that did not complete exit code 1.
[Errors](errors.md) explains the codes.

${parts
  .map((part) =>
    faultSection(
      part,
      faults.filter((fault) => fault.part === part),
    ),
  )
  .join('\n\n')}
`
}

function faultSection(part: string, rows: readonly Fault[]): string {
  const [first] = rows
  const command = first?.command === 'eval' ? 'evsys eval MODEL --benchmark B' : 'evsys run FILE'
  const cells = rows.map(({ fault, what, waits, ends }) => {
    const waiting = waits === undefined ? '' : `\`${waits} ...\``
    const kept = first?.command === 'eval' ? 'nothing' : 'what is finished is kept'
    if (ends === 'on the first signal') return [fault, what, waiting, 'the first Ctrl-C ends it', '130', kept]
    const code = ends.code === undefined ? '' : `[\`${ends.code}\`](errors.md): `
    const run = { none: 'nothing', completed: 'the run has completed', failed: 'the run has failed' }[ends.run]
    return [fault, what, waiting, `${code}\`... ${ends.says} ...\``, String(ends.exit), run]
  })
  const head = [part, 'what is wrong', 'while it waits', 'what it says at its end', 'exit code', 'in the record']
  return `## ${part.charAt(0).toUpperCase()}${part.slice(1)}\n\n\`${command}\`\n\n${markdownTable([head, ...cells])}`
}

/** Cells of a column are of equal width, as the formatter writes them. */
function markdownTable([head = [], ...rows]: readonly (readonly string[])[]): string {
  const widths = head.map((_, i) => Math.max(3, ...[head, ...rows].map((cells) => cells[i]?.length ?? 0)))
  const line = (cells: readonly string[]) => `| ${cells.map((cell, i) => cell.padEnd(widths[i] ?? 0)).join(' | ')} |`
  return [line(head), line(widths.map((width) => '-'.repeat(width))), ...rows.map(line)].join('\n')
}

// What people write: defaults are optional.
function schemaOf(schema: z.ZodType): JsonSchema {
  const { $schema: _dialect, ...rest } = z.toJSONSchema(schema, { io: 'input', unrepresentable: 'any' })
  return rest as JsonSchema // the subset of JSON Schema that zod emits for these schemas
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  mkdirSync(`${folder}/plugins`, { recursive: true })
  const pages = { ...referencePages(), ...(await pluginPages()), 'faults.md': faultsPage() }
  for (const [name, text] of Object.entries(pages)) writeFileSync(`${folder}/${name}`, text)
}
