// Every plugin that is named exists, and its params fit its schema; located at the text that named it.
import {
  type Catalog,
  canonicalJson,
  type ParamsResult,
  suggest,
  unknownKind,
  type ValueIssue,
} from '../kernel/index.ts'
import { capFlag } from './cap-steps.ts'
import { nearest, reasoningFix } from './check-node.ts'
import { type Origin, type Path, toJs } from './located.ts'
import type { PluginUse } from './plugin-uses.ts'
import type { Report } from './report.ts'

export async function checkPlugins(uses: readonly PluginUse[], catalog: Catalog, report: Report): Promise<void> {
  const known = uses
    .filter((use) => isKnown(use, catalog, report))
    .map((use) => {
      const request = { type: use.type, kind: use.kind, params: use.params === undefined ? {} : toJs(use.params) }
      return { use, request, key: canonicalJson(request) }
    })
  // Arms that differ elsewhere ask the same question; it is asked once.
  const requests = new Map(known.map(({ key, request }) => [key, request]))
  const answers = await catalog.check([...requests.values()])
  const results = new Map([...requests.keys()].map((key, i) => [key, answers[i]]))
  for (const { use, key } of known) {
    const result = results.get(key)
    if (result !== undefined) reportResult(use, result, catalog, report)
  }
}

// Kinds of the first generation, and what does their work now.
const samePath = (kind: string) =>
  `write \`kind: ${kind}\`: the backend says where it trains, and one recipe runs on all of them (\`backend: { kind: local }\`, \`tinker\` or \`mock\`).`
const preset = (name: string) => `write \`backend: { kind: tinker, params: { preset: ${name}, base_url: URL } }\`.`
const successors: ReadonlyMap<string, string> = new Map([
  ...['sft', 'rl', 'sdft'].flatMap((kind) =>
    ['local', 'mock'].map((place) => [`algorithm ${place}_${kind}`, samePath(kind)] as const),
  ),
  ...['gepa_prompt', 'optimize_anything'].map((kind) => [`algorithm ${kind}`, 'write `kind: prompt_search`.'] as const),
  ...['skyrl', 'fireworks'].map((name) => [`backend ${name}`, preset(name)] as const),
  ['agent basic_loop', 'write `kind: chat` (one model, no tools) or `kind: tool_loop` (with tools).'],
  ['callback wandb_logger', 'write `kind: tensorboard_logger`, or a callback of your own in src/plugins.'],
])

/** What a parameter of the first generation is written as now. */
const movedParams: ReadonlyMap<string, string> = new Map([
  [
    'max_turns',
    'turns are a limit of the agent: write `agent: { kind: tool_loop, params: { max_turns: N } }` in the run.',
  ],
  ['num_generations', 'write `num_samples`.'],
  ['max_completion_length', 'write `max_tokens`.'],
  ['per_device_train_batch_size', 'write `batch_size`.'],
  ['drop_constant_reward', 'write `constant_groups: drop` or `keep`.'],
  ['enable_thinking', reasoningFix],
])

export function isKnown(
  { type, kind, at }: Pick<PluginUse, 'type' | 'kind' | 'at'>,
  catalog: Catalog,
  report: Report,
): boolean {
  if (catalog.card(type, kind) !== undefined) return true
  if (report.isReported(at, type)) return false
  const { code, message, fix } = unknownKind(type, kind, catalog.kinds(type))
  report.problem(at, { code, message, fix: successors.get(`${type} ${kind}`) ?? fix })
  return false
}

function reportResult(use: PluginUse, result: ParamsResult, catalog: Catalog, report: Report): void {
  if (!result.ok) {
    for (const issue of result.issues) reportIssue(use, issue, catalog, report)
    return
  }
  const { kind, at, numSamples } = use
  // pass@k is checked without the catalog already.
  const isChecked = /^pass[@^]\d+$/.test(kind)
  if (numSamples === undefined || result.minSamples === undefined || result.minSamples <= numSamples || isChecked)
    return
  const message = `${kind} needs ${result.minSamples} samples of each task, and num_samples is ${numSamples}`
  const fix = `set num_samples: ${result.minSamples} or more in this benchmark.`
  report.problem(at, { code: 'CONFIG_INVALID', message, fix })
}

function reportIssue(use: PluginUse, issue: ValueIssue, catalog: Catalog, report: Report): void {
  const { type, kind } = use
  const more = `\`evsys schema ${type} ${kind}\` prints what it takes.`
  if (issue.code === 'unknown_key') {
    for (const key of issue.keys ?? []) {
      const { origin, below } = keyPlace(use, issue.path, key)
      if (report.isReported(origin, JSON.stringify([kind, key, below]))) continue
      const flag = capFlag(origin)
      if (flag !== undefined) {
        const message = `${flag} caps max_steps, which ${kind} does not take`
        const fix = `leave ${flag} away, or give ${kind} a parameter max_steps that ends its training. ${more}`
        report.problem(origin, { code: 'PLUGIN_PARAMS', message, fix }, below)
        continue
      }
      const message = `${kind} takes no ${JSON.stringify(key)}`
      const moved = type === 'algorithm' ? movedParams.get(key) : undefined
      const fix = moved === undefined ? suggest(key, issue.known ?? [], { more }) : `${moved} ${more}`
      report.problem(origin, { code: 'PLUGIN_PARAMS', message, fix }, below)
    }
    return
  }
  const { origin, below } = valuePlace(use, issue.path)
  if (report.isReported(origin, JSON.stringify([kind, issue.message, below]))) return
  const meaning = describe(catalog.card(type, kind)?.schema, issue.path)
  const fix = meaning === undefined ? more : `\`${issue.path.at(-1)}\`: ${meaning} ${more}`
  report.problem(origin, { code: 'PLUGIN_PARAMS', message: issue.message, fix }, below)
}

function valuePlace({ params, holder }: PluginUse, path: Path): { origin: Origin; below: Path } {
  if (params === undefined) return { origin: holder.origin, below: holder.type === 'map' ? ['params', ...path] : [] }
  const { node, below } = nearest(params, path)
  return { origin: node.origin, below }
}

function keyPlace(use: PluginUse, path: Path, key: string): { origin: Origin; below: Path } {
  const { node, below } = use.params === undefined ? { node: use.holder, below: path } : nearest(use.params, path)
  const at = below.length === 0 && node.type === 'map' ? node.entries.get(key)?.at : undefined
  return at === undefined ? valuePlace(use, [...path, key]) : { origin: at, below: [] }
}

function describe(schema: unknown, path: Path): string | undefined {
  let here = schema
  for (const step of path) here = property(property(here, typeof step === 'number' ? 'items' : 'properties'), step)
  const text = property(here, 'description')
  return typeof text === 'string' && text !== '' ? text : undefined
}

function property(value: unknown, key: string | number): unknown {
  if (typeof value !== 'object' || value === null) return undefined
  // A list schema has one schema for all of its items.
  if (typeof key === 'number') return value
  return Object.hasOwn(value, key) ? Reflect.get(value, key) : undefined
}
