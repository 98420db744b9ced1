// What there is to see of an experiment: rows of its training data, what the incumbent gets wrong on validation, learning curves, and what
// a plugin looks like where one may be written. Nothing of a test benchmark comes this far.
import { readFileSync } from 'node:fs'
import type { ExperimentMaterial, SearchState } from '../../../contracts/index.ts'
import type { Redact } from '../../../kernel/index.ts'
import { type BriefSection, figure } from './brief-sections.ts'
import { plainLine, quoteLine } from './quote.ts'

/** `share`: of the room for what there is to see. */
type SharedSection = BriefSection & { readonly share: number }

export function experimentSections(
  material: ExperimentMaterial,
  state: SearchState,
  redact: Redact,
): readonly SharedSection[] {
  return [
    { ...trainingRows(material, redact), share: 0.25 },
    { ...mistakes(material, redact), share: 0.27 },
    { ...curves(material, state, redact), share: 0.08 },
    { ...limits(material, redact), share: 0.06 },
    { ...kinds(material, redact), share: 0.16 },
    { ...plugins(material), share: 0.18 },
  ]
}

function trainingRows({ rows }: ExperimentMaterial, redact: Redact): BriefSection {
  const heading = 'Training rows (as they come, before transforms; train split only)'
  if (rows === undefined) return { heading, items: ['They are read by plugins of the project, and not shown.'] }
  const count = rows.isAll ? `${rows.read} rows` : `more than ${rows.read} rows`
  const fields = [...new Set(rows.samples.flatMap((row) => (isRow(row) ? Object.keys(row) : [])))]
  const named = fields.map((field) => plainLine(field, 60, redact)).slice(0, 40)
  const items = rows.samples.map((row) => `| ${plainLine(JSON.stringify(row), 320, redact)}`)
  return { heading, items: [`${count}; fields: ${named.join(', ')}. ${items.length} of them:`, ...items] }
}

function isRow(row: unknown): row is object {
  return typeof row === 'object' && row !== null
}

/** Answers at or above it are right. */
const rightReward = 0.5
const examplesOfCluster = 2
const mostAnswersNamed = 4

type Answer = ExperimentMaterial['answers'][number]

function mistakes({ answers }: ExperimentMaterial, redact: Redact): BriefSection {
  const heading = 'What the incumbent gets wrong on validation, by cluster'
  const judged = answers.filter(({ reward }) => reward !== null)
  const wrong = judged.filter(({ reward }) => (reward ?? 0) < rightReward)
  if (judged.length === 0) return { heading, items: [] }
  const unjudged = answers.length - judged.length
  const lost = unjudged === 0 ? '' : `; ${unjudged} could not be scored`
  const clusters = clustersOf(wrong).map(([name, all]) => {
    const examples = all.slice(0, examplesOfCluster).map(({ instruction, output = '' }) => {
      const answered = output.trim() === '' ? 'nothing' : quoteLine(output, 160, redact)
      return `  - asked ${quoteLine(instruction, 200, redact)}, it answered ${answered}`
    })
    return [`- ${name(redact)}: ${all.length} wrong`, ...examples].join('\n')
  })
  return { heading, items: [`${wrong.length} of ${judged.length} answers are wrong${lost}.`, ...clusters] }
}

type Named = (redact: Redact) => string

// By what was expected where few answers are possible, else by what was answered where that repeats itself.
function clustersOf(wrong: readonly Answer[]): (readonly [Named, readonly Answer[]])[] {
  const empty = wrong.filter(({ output = '' }) => output.trim() === '')
  const given = wrong.filter(({ output = '' }) => output.trim() !== '')
  const nothing: (readonly [Named, readonly Answer[]])[] =
    empty.length === 0 ? [] : [[() => 'it answers nothing', empty]]
  const byExpected = grouped(given, ({ expected }) => (typeof expected === 'string' ? expected : undefined))
  if (byExpected !== undefined) {
    const named = byExpected.map(([expected, all]) => {
      const name: Named = (redact) => `expected ${quoteLine(expected, 80, redact)}, answered ${commonest(all, redact)}`
      return [name, all] as const
    })
    return [...nothing, ...named]
  }
  const byOutput = grouped(given, ({ output = '' }) => output.trim())
  if (byOutput !== undefined) {
    const named = byOutput.map(([output, all]) => {
      const name: Named = (redact) => `it answers ${quoteLine(output, 120, redact)} to different questions`
      return [name, all] as const
    })
    return [...nothing, ...named]
  }
  return given.length === 0 ? nothing : [...nothing, [() => 'different answers', given]]
}

/** Groups by a text, the largest first; undefined where most have one of their own, or none. */
function grouped(answers: readonly Answer[], of: (answer: Answer) => string | undefined) {
  const groups = new Map<string, Answer[]>()
  for (const answer of answers) {
    const key = of(answer)
    if (key === undefined) return undefined
    groups.set(key, [...(groups.get(key) ?? []), answer])
  }
  if (groups.size === 0 || (groups.size > 1 && groups.size * 2 > answers.length)) return undefined
  return [...groups].sort(([a, one], [b, other]) => other.length - one.length || (a < b ? -1 : 1))
}

function commonest(answers: readonly Answer[], redact: Redact): string {
  const counts = new Map<string, number>()
  for (const { output = '' } of answers) counts.set(output.trim(), (counts.get(output.trim()) ?? 0) + 1)
  const sorted = [...counts].sort(([a, one], [b, other]) => other - one || (a < b ? -1 : 1))
  const named = sorted.slice(0, mostAnswersNamed).map(([text, count]) => `${quoteLine(text, 60, redact)} (${count})`)
  const more = sorted.length - named.length
  return `${named.join(', ')}${more > 0 ? ` and ${more} more` : ''}`
}

function curves({ curves: all }: ExperimentMaterial, { attempts }: SearchState, redact: Redact): BriefSection {
  const items = all.map(({ attempt, metric, points }) => {
    const number = attempts.find(({ id }) => id === attempt)?.number ?? 0
    const values = points.map(([step, value]) => `${figure(value)} at ${Math.round(step)}`)
    return `#${number} ${plainLine(metric, 60, redact)} by step: ${values.join(', ')}`
  })
  return { heading: 'Learning curves', items }
}

function limits({ offLimits, scope }: ExperimentMaterial, redact: Redact): BriefSection {
  const named = offLimits.map((path) => plainLine(path, 80, redact))
  const files = scope.length === 0 ? 'No plugin file may be written.' : `Plugin files: ${scope.join(', ')}.`
  return {
    heading: 'Off limits, and what may be written',
    items: [
      'Never: benchmarks, verifiers, metrics, sources and splits of the data, seeds, budget, the block research. Answers to questions of a benchmark in prompts, examples or code are turned down as tampering.',
      ...(named.length === 0 ? [] : [`Off limits here: ${named.join(', ')}.`]),
      plainLine(files, 400, redact),
    ],
  }
}

function kinds({ kinds: all }: ExperimentMaterial, redact: Redact): BriefSection {
  const items = (['algorithm', 'transform'] as const).flatMap((type) =>
    all
      .filter((each) => each.type === type)
      .map(({ kind, summary }) => `${type} ${plainLine(kind, 40, redact)}: ${plainLine(summary, 90, redact)}`),
  )
  return { heading: 'Recipes and transforms that there are', items }
}

/** What a plugin is, in few lines. */
const pluginInterface = readFileSync(
  new URL('../../../../templates/research/plugin-interface.md', import.meta.url),
  'utf8',
).trimEnd()

function plugins({ scope }: ExperimentMaterial): BriefSection {
  return { heading: 'How a plugin file is written', items: scope.length === 0 ? [] : [pluginInterface] }
}
