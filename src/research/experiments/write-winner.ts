// What a session over an experiment file ends in: a folder with the winning experiment, whole, with its plugin files, the conclusion and
// the trained adapter. Writing it again gives the same.
import { mkdir, readFile, rm, stat, writeFile } from 'node:fs/promises'
import { dirname, join, relative } from 'node:path'
import { loadLocalTrainer } from '../../backends/index.ts'
import { movedExperiment } from '../../config/index.ts'
import type { CandidateFiles, ResearchAttempt, ResearchState } from '../../contracts/index.ts'
import { fileWork, isMapping, messageOf, numberText, rangeText, signedText } from '../../kernel/index.ts'
import { loadLab } from '../../lab/index.ts'
import type { OpenStore } from '../../store/index.ts'
import { sessionClaim } from '../conclude/session-claim.ts'
import { tradeOffs } from '../conclude/trade-offs.ts'
import { documentEdits, rewriteYaml } from './edits/index.ts'
import { DOCUMENT } from './open-experiment.ts'

interface WinnerOptions {
  /** The experiment file that research began with, absolute. */
  readonly file: string
  /** Its name. */
  readonly name: string
  readonly projectDir: string
  readonly store: OpenStore
  readonly experimentId: string
  readonly state: ResearchState
  readonly winner: ResearchAttempt
  /** Of the winner. */
  readonly files: CandidateFiles
  readonly objective: string
}

export interface WrittenWinner {
  readonly attempt: string
  /** From the project. */
  readonly folder: string
  /** Of the adapter; absent: it could not be exported. */
  readonly adapter?: string | undefined
  /** Why there is no adapter. */
  readonly reason?: string | undefined
}

/** Writes the folder of the winner: `experiments/<date>-<name>-<attempt>`. */
export async function writeWinner(options: WinnerOptions): Promise<WrittenWinner> {
  const { projectDir, experimentId, state, winner, name, store, files } = options
  const date = (state.startedAt ?? '').slice(0, 10)
  const slug = `${date}-${name}-${winner.id}`
  const folder = await freeFolder(join(projectDir, 'experiments', slug), experimentId)
  const measured = winner.scores[0]
  const seed = measured?.seed ?? 0
  const text = await winnerText(options, { folder, slug, seed })
  await fileWork('write', folder, async () => {
    await mkdir(folder, { recursive: true })
    await writeFile(join(folder, DOCUMENT), text)
    for (const [path, code] of Object.entries(files)) {
      if (path === DOCUMENT) continue
      await mkdir(dirname(join(folder, path)), { recursive: true })
      await writeFile(join(folder, path), code)
    }
  })
  const run = winner.runs.find((each) => each.seed === seed && each.status === 'scored' && each.split === 'val')?.run
  const row = (await store.runs(experimentId)).find((each) => each.name === run)
  const { adapter, reason } = await exportAdapter(options, row?.id, join(folder, 'adapter'))
  const written = { attempt: winner.id, folder: relative(projectDir, folder), adapter, reason }
  await fileWork('write', folder, async () => {
    await writeFile(join(folder, 'README.md'), readme(options, { slug, seed, value: measured?.value, written }))
    const expected = { session: experimentId, attempt: winner.id, seed, [options.objective]: measured?.value }
    await writeFile(join(folder, 'expected.json'), `${JSON.stringify(expected, undefined, 2)}\n`)
  })
  return written
}

async function winnerText(
  { file, files, experimentId, winner }: WinnerOptions,
  { folder, slug, seed }: { folder: string; slug: string; seed: number },
): Promise<string> {
  const text = files[DOCUMENT] ?? ''
  const stays = new Set(Object.keys(files).map((path) => join(dirname(file), path)))
  const moved = await movedExperiment({ file, text }, folder, { stays })
  const metadata = isMapping(moved.metadata) ? moved.metadata : {}
  const hypothesis = `${winner.title}: ${winner.hypothesis || 'better than the baseline it was found from.'}`
  const value = {
    ...moved,
    name: slug,
    n_repeats: 1,
    base_seed: seed,
    parent_experiment_id: experimentId,
    metadata: { ...metadata, hypothesis },
  }
  return rewriteYaml(text, value)
}

/** The folder, or beside it where another session has it. */
async function freeFolder(folder: string, experimentId: string): Promise<string> {
  const found = await readFile(join(folder, DOCUMENT), 'utf8').catch(() => undefined)
  if (found === undefined) return folder
  const parent = documentEdits.canonicalDocument(found)
  const isOwn = isMapping(parent) && parent.parent_experiment_id === experimentId
  return isOwn ? folder : `${folder}-${experimentId.slice(-6)}`
}

async function exportAdapter(
  { store, projectDir }: WinnerOptions,
  runId: string | undefined,
  folder: string,
): Promise<Pick<WrittenWinner, 'adapter' | 'reason'>> {
  if (runId === undefined) return { reason: 'no run of it is in the record' }
  try {
    const { trainedWeights } = await loadLab()
    const found = await trainedWeights(store, runId, { kind: 'sampler' })
    if (found === undefined) return { reason: 'its run kept no checkpoint' }
    const { backend, model } = found.run.config
    if (backend.kind !== 'local' || backend.params.engine === 'mock') {
      return { reason: `its weights are not on this machine: they were trained on ${backend.kind}` }
    }
    // A controller that died may have written it, or a part of it: the weights are written last.
    const isWhole = (await stat(join(folder, 'adapter_model.safetensors')).catch(() => undefined)) !== undefined
    if (isWhole) return { adapter: relative(projectDir, folder) }
    await rm(folder, { recursive: true, force: true })
    const { exportCheckpoint } = await loadLocalTrainer()
    const dir = join(projectDir, '.evsys', 'trainer')
    await exportCheckpoint({ dir, path: found.checkpoint.ref, model: model.name, project: projectDir, folder })
    return { adapter: relative(projectDir, folder) }
  } catch (error) {
    return { reason: messageOf(error) }
  }
}

function claimLines(state: ResearchState, objective: string): string[] {
  const claim = sessionClaim(state)
  if (claim === undefined) return []
  const { verdict, treatment, effect, interval, confidence, seeds, items, scores } = claim
  const number = (value: number | null) => (value === null ? '-' : numberText(value))
  const size =
    effect === null || interval === null
      ? 'no interval'
      : `${signedText(effect)}, ${Math.round(100 * confidence)} % interval ${rangeText(interval)}`
  const over = typeof items === 'number' ? `, ${items} tasks` : ''
  return [
    '## Claim',
    '',
    `**${verdict}**: ${treatment} is better than the baseline on the hidden test benchmark: ${number(scores.treatment)} against ${number(scores.baseline)} (${size}; ${seeds.length} fresh seeds${over}). Validation (${objective}) selected it; the test benchmark took no part in that.`,
    '',
  ]
}

function tradeOffLines(state: ResearchState): string[] {
  const found = tradeOffs(state)
  if (found === undefined) return []
  const head = ['candidate', ...found.metrics.map(({ metric }) => metric), 'seeds']
  const rows = found.candidates
    .filter(({ isOnFront, isBest }) => isOnFront || isBest)
    .map(({ attempt, values, n, isBest }) => [
      isBest ? `**${attempt}**` : attempt,
      ...values.map((value) => (value === null ? '-' : numberText(value))),
      String(n),
    ])
  const line = (cells: readonly string[]) => `| ${cells.join(' | ')} |`
  return [
    '## Trade-offs',
    '',
    'No other candidate is at least as good by all and better by one.',
    '',
    line(head),
    line(head.map(() => '---')),
    ...rows.map(line),
    '',
  ]
}

function readme(
  { state, winner, experimentId, objective }: WinnerOptions,
  { slug, seed, value, written }: { slug: string; seed: number; value: number | undefined; written: WrittenWinner },
): string {
  const steps = state.kept.filter((id) => id !== state.baseline)
  const changes = steps.flatMap((id) => {
    const found = state.attempts.find((attempt) => attempt.id === id)
    if (found === undefined) return []
    const ablated = found.ablation === undefined ? '' : ` Without it: ${found.ablation.reason}`
    return [`- ${id}: ${found.title}. ${found.reason ?? ''}${ablated}`]
  })
  const weights =
    written.adapter === undefined
      ? `There is no adapter here: ${written.reason ?? 'none was exported'}.`
      : 'The trained adapter is in `adapter/`, as PEFT and Transformers read it.'
  return `${[
    `# ${slug}`,
    '',
    `The winner of the research session ${experimentId}: ${winner.id}.`,
    '',
    state.end?.text ?? '',
    '',
    ...claimLines(state, objective),
    ...tradeOffLines(state),
    '## Changes that were kept',
    '',
    ...changes,
    '',
    '## Again',
    '',
    `\`evsys run ${join(written.folder, DOCUMENT)}\` trains it with seed ${seed}; the session measured ${objective} ${value ?? 'nothing'} there (\`expected.json\`).`,
    '',
    weights,
  ].join('\n')}\n`
}
