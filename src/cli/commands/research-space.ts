// `evsys research space FILE`: what research over an experiment may change, from where that is known, and what it leaves alone and why.
import { type LoadedExperiment, loadExperiment, pluginReferences, wholeExperiment } from '../../config/index.ts'
import { type KnobSpec, ResearchBlock } from '../../contracts/index.ts'
import { EvsysError } from '../../kernel/index.ts'
import { loadExperimentEdits } from '../../research/index.ts'
import { type CommandContext, type ExitCode, exitCodes } from '../context/command-context.ts'
import { requireProject, withCatalog } from '../context/project.ts'
import { table } from '../output/table.ts'
import { numberText } from '../output/text.ts'

export type ResearchSpaceOptions = { readonly arm?: string | undefined }

export async function researchSpace(
  context: CommandContext,
  file: string,
  { arm }: ResearchSpaceOptions,
): Promise<ExitCode> {
  const { cwd, signal, output } = context
  const loaded = await loadExperiment({ file }, { cwd, signal, refuseUnused: true })
  const whole = await wholeExperiment({ file }, { arm, cwd, signal })
  const projectDir = context.project === undefined ? loaded.project : await requireProject(context)
  const { deriveSpace, documentEdits } = await loadExperimentEdits()
  const space = await withCatalog(context, { projectDir, plugins: pluginReferences(loaded) }, async (catalog) => {
    if (catalog.problems.length > 0) throw EvsysError.many([...catalog.problems])
    return deriveSpace({
      root: whole.value,
      document: file,
      block: blockOf(whole.value, loaded),
      schemaOf: (type, kind) => catalog.card(type, kind)?.schema,
    })
  })
  if (space.problems.length > 0) {
    const located = space.problems.map(({ path, ...problem }) => {
      const where = loaded.locate(undefined, ['research', ...path])
      return { code: 'CONFIG_INVALID' as const, ...problem, where }
    })
    throw EvsysError.many(located)
  }
  const files = { [file]: whole.text }
  const today = documentEdits.readKnobs({ ...files, [file]: JSON.stringify(whole.value) }, space.catalog)
  const knobs = Object.entries(space.catalog.knobs).map(([name, { spec, when, value }]) => {
    const { from, area } = space.origins[name] ?? { from: 'document', area: undefined }
    return { name, ...spec, today: today[name], default: value, from, area, when }
  })
  const document = { file, arm: whole.arm, arms: whole.arms, knobs, excluded: space.excluded, never }
  output.result(document, () => {
    const { dim, bold } = output.colors
    const rows = knobs.map((knob) => [knob.name, mayBe(knob), valueText(knob.today), origins[knob.from]])
    const head = ['may change', 'to', 'today', 'from']
    const of = whole.arms.length > 1 ? `, arm ${whole.arm}` : ''
    return [
      `${bold(file)}${of}: ${knobs.length} knobs`,
      '',
      ...(knobs.length === 0 ? [] : [table(rows, { head, width: output.width, paintHead: dim }), '']),
      dim('stays as it is'),
      table(groupedByReason(space.excluded), { width: output.width }),
      '',
      `never: ${never.join(', ')}`,
    ].join('\n')
  })
  for (const notice of whole.notices) output.notice(notice)
  return exitCodes.done
}

const never = ['benchmarks', 'verifiers', 'metrics', 'splits', 'seeds', 'budget']

const origins = { mark: 'its plugin', schema: 'its schema', document: 'its value', file: 'the file' } as const

// The block is checked with the file; one that is absent has its defaults.
function blockOf(value: Readonly<Record<string, unknown>>, loaded: LoadedExperiment): ResearchBlock {
  const parsed = ResearchBlock.safeParse(value.research ?? {})
  if (parsed.success) return parsed.data
  const problems = parsed.error.issues.map(({ path, message }) => ({
    code: 'CONFIG_INVALID' as const,
    message,
    where: loaded.locate(undefined, [
      'research',
      ...path.map((step) => (typeof step === 'number' ? step : String(step))),
    ]),
  }))
  throw EvsysError.many(problems)
}

function mayBe({ ...knob }: KnobSpec & { readonly when?: object | undefined }): string {
  const when = Object.entries(knob.when ?? {}).map(
    ([name, values]) => `${name.split('.').at(-1)} ${[values].flat().join(' or ')}`,
  )
  const condition = when.length === 0 ? '' : `, with ${when.join(' and ')}`
  if (knob.kind === 'choice') return `${knob.values.map(valueText).join(', ')}${condition}`
  const step = knob.log ? ', by factors' : ''
  return `${numberText(knob.low)} to ${numberText(knob.high)}${knob.integer ? ', whole' : ''}${step}${condition}`
}

function valueText(value: unknown): string {
  if (typeof value === 'number') return numberText(value)
  return typeof value === 'string' ? value : value === true ? 'yes' : value === false ? 'no' : '-'
}

function groupedByReason(excluded: readonly { readonly name: string; readonly why: string }[]): string[][] {
  const reasons = new Map<string, string[]>()
  for (const { name, why } of excluded) reasons.set(why, [...(reasons.get(why) ?? []), name])
  return [...reasons].map(([why, names]) => [why, names.join(', ')])
}
