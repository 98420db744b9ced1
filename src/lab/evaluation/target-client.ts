// What `eval` is asked to score: a run’s checkpoint, a base model, a model behind an API. All of them become a client.
import { existsSync } from 'node:fs'
import { basename, join, relative, resolve } from 'node:path'
import { parseDocument } from 'yaml'
import { type CheckpointKind, ModelEntry, type PluginSpec } from '../../contracts/index.ts'
import { EvsysError, suggest } from '../../kernel/index.ts'
import { namedModel } from '../../models/index.ts'
import { selectedEval } from '../../record/index.ts'
import {
  type CheckpointRow,
  type OpenStore,
  openStore,
  type RunRow,
  requireTraining,
  type TrainingRunRow,
} from '../../store/index.ts'

interface EvalTarget {
  /** As people see it. */
  readonly label: string
  readonly client: PluginSpec
  /** Answers in place of the client. */
  readonly agent?: PluginSpec | undefined
  /** Whose checkpoint it is. */
  readonly run?:
    | { readonly id: string; readonly name: string; readonly step: number; readonly experimentId: string }
    | undefined
}

interface TargetOptions {
  readonly projectDir: string
  /** Where a file of answers is looked for. */
  readonly cwd?: string | undefined
  readonly step?: number | undefined
}

/** The client for a reference: a run (its best checkpoint, or that of `step`), else the name of a model. */
export async function targetClient(
  store: OpenStore,
  reference: string,
  { projectDir, cwd = '.', step }: TargetOptions,
): Promise<EvalTarget> {
  const file = resolve(cwd, reference)
  if (/\.(csv|jsonl)$/i.test(file) && existsSync(file)) return predictionsTarget(file)
  const found = await trainedWeights(store, reference, { step })
  if (found === undefined) return modelTarget(reference)
  const { run, checkpoint } = found
  return {
    label: `${run.name} at step ${checkpoint.step}`,
    client: checkpointClient(run, checkpoint.ref, projectDir),
    run: { id: run.id, name: run.name, step: checkpoint.step, experimentId: run.experimentId },
  }
}

/** A checkpoint and the run that saved it. */
export interface TrainedWeights {
  readonly run: TrainingRunRow
  readonly checkpoint: CheckpointRow
}

/** The checkpoint that a run, or EXPERIMENT/ARM, leads to: of the best step, or of `step`. Undefined: the record has no such run. */
export async function trainedWeights(
  store: OpenStore,
  reference: string,
  {
    step,
    kind,
  }: { step?: number | undefined /** Absent: weights to sample from, else a state. */; kind?: CheckpointKind },
): Promise<TrainedWeights | undefined> {
  const found = (await runOf(store, reference)) ?? (await runOfArm(store, reference))
  if (found === undefined) return undefined
  const run = requireTraining(found)
  const all = await store.checkpoints(run.id)
  const saved = kind === undefined ? all : all.filter((each) => each.kind === kind)
  const wanted = step ?? run.bestStep ?? saved.at(-1)?.step
  const at = saved.filter((each) => each.step === wanted)
  const checkpoint = at.find((each) => each.kind === 'sampler') ?? at[0]
  if (checkpoint !== undefined) return { run, checkpoint }
  throw noCheckpoint(
    run,
    saved.map((each) => each.step),
    step,
  )
}

/**
 * The address of the selected checkpoint of a run, or EXPERIMENT/ARM, of the record of a project. Throws, with the names that there
 * are, where nothing is called so, and where a name leads to several runs.
 */
export async function recordedWeights(
  name: string,
  kind: CheckpointKind,
  {
    projectDir,
    base,
    signal,
  }: {
    projectDir: string
    /** The base model that they are for; absent: any. */
    base?: string | undefined
    signal?: AbortSignal | undefined
  },
): Promise<string> {
  const file = join(projectDir, '.evsys', 'evsys.db')
  await using store = await openStore(existsSync(file) ? file : ':memory:', { signal })
  const found = await trainedWeights(store, name, { kind })
  if (found !== undefined) {
    const own = found.run.config.model.name
    if (base === undefined || base === own) return found.checkpoint.ref
    throw new EvsysError('CONFIG_INVALID', `the weights of ${name} belong to ${own}, and the model is ${base}`, {
      fix: `write name: ${own}, or name weights of ${base}.`,
    })
  }
  const known = new Set<string>()
  for (const experiment of await store.experiments({ limit: 20 })) {
    for (const run of await store.runs(experiment.id)) known.add(`${experiment.name}/${run.arm}`)
  }
  throw new EvsysError('STORE_MISSING', `the record has no run and no EXPERIMENT/ARM "${name}" whose weights to take`, {
    fix: suggest(name, [...known], { more: '`evsys checkpoint list` shows what is kept; a path starts with ./ or /.' }),
  })
}

/** Of the seeds of an arm, the completed run that scored best by the objective; the first one where nothing ranks them. */
async function runOfArm(store: OpenStore, reference: string): Promise<RunRow | undefined> {
  const slash = reference.indexOf('/')
  const experiment = slash < 0 ? undefined : await unlessMissing(store.findExperiment(reference.slice(0, slash)))
  if (experiment === undefined) return undefined
  const runs = (await store.runs(experiment.id)).filter(({ arm }) => arm === reference.slice(slash + 1))
  const usable = runs.filter(({ status, invalid }) => status === 'completed' && invalid === undefined)
  const last = usable.filter(({ id }) => !usable.some(({ afterRun }) => afterRun === id)) // of a chain of stages
  const { objective } = experiment
  if (objective === undefined) return last[0] ?? runs[0]
  const sign = objective.direction === 'max' ? -1 : 1
  const scored = await Promise.all(
    last.map(async (run) => {
      const selected = selectedEval(run, await store.evals(run.id), objective.benchmark)
      return { run, rank: sign * (selected?.metrics[objective.metric] ?? -sign * Number.POSITIVE_INFINITY) }
    }),
  )
  return scored.toSorted((a, b) => (a.rank === b.rank ? 0 : a.rank - b.rank))[0]?.run ?? runs[0]
}

export function modelTarget(name: string): EvalTarget {
  return name.trimStart().startsWith('{') ? namedModel(writtenOut(name)) : namedModel(name)
}

/** A file with answers of another system. */
function predictionsTarget(path: string): EvalTarget {
  const agent = { kind: 'predictions', params: { path } }
  return { label: basename(path), client: { kind: 'mock', params: { model: 'none' } }, agent }
}

/** A client as an experiment file writes it. */
function writtenOut(text: string): ModelEntry {
  const document = parseDocument(text)
  const checked = document.errors.length > 0 ? undefined : ModelEntry.safeParse(document.toJS()).data
  if (checked !== undefined) return checked
  throw new EvsysError('CLI_USAGE', `"${text}" is no client`, {
    fix: "write '{ kind: openai_compatible, base_url: ADDRESS, model: NAME }', in quotes.",
  })
}

async function runOf(store: OpenStore, reference: string): Promise<RunRow | undefined> {
  return await unlessMissing(store.findRun(reference))
}

async function unlessMissing<T>(found: Promise<T>): Promise<T | undefined> {
  try {
    return await found
  } catch (error) {
    if (EvsysError.is(error) && error.code === 'STORE_MISSING') return undefined
    throw error
  }
}

// The model, renderer and place of the run itself: its prompts are those of its own evaluations.
function checkpointClient(run: RunRow, checkpoint: string, projectDir: string): PluginSpec {
  const { name, config } = requireTraining(run)
  const { backend, model, algorithm } = config
  const renderer = algorithm.params.renderer_name ?? model.renderer_name
  const sampled = { model: model.name, checkpoint, renderer: typeof renderer === 'string' ? renderer : undefined }
  const taken = (...names: string[]) =>
    Object.fromEntries(names.flatMap((each) => (each in backend.params ? [[each, backend.params[each]]] : [])))
  if (backend.kind === 'local') {
    const folder = relative(process.cwd(), join(projectDir, '.evsys')) || '.'
    return { kind: 'local', params: { ...sampled, ...taken('engine'), folder } }
  }
  if (backend.kind === 'tinker')
    return { kind: 'tinker', params: { ...sampled, ...taken('preset', 'base_url', 'tokenizer') } }
  const message = `${name} was trained on the backend "${backend.kind}", whose checkpoints cannot be sampled later`
  throw new EvsysError('CLI_USAGE', message, { fix: 'evaluate runs of the backends local and tinker.' })
}

function noCheckpoint({ name }: RunRow, steps: readonly number[], step: number | undefined): EvsysError {
  const known = [...new Set(steps)].join(', ')
  return new EvsysError('STORE_MISSING', `${name} has no checkpoint${step === undefined ? '' : ` of step ${step}`}`, {
    fix: known === '' ? 'it kept none; run it again with save_every.' : `it has those of steps ${known}.`,
  })
}
