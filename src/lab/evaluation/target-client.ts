// What `eval` is asked to score: a run’s checkpoint, a base model, a model behind an API. All of them become a client.
import { existsSync } from 'node:fs'
import { basename, join, relative, resolve } from 'node:path'
import { parseDocument } from 'yaml'
import { ModelEntry, type PluginSpec } from '../../contracts/index.ts'
import { EvsysError } from '../../kernel/index.ts'
import { namedModel } from '../../models/index.ts'
import { type OpenStore, type RunRow, requireTraining } from '../../store/index.ts'

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

/** The client for a reference: a run (its best checkpoint, or that of `step`), else the name of a model. */
export async function targetClient(
  store: OpenStore,
  reference: string,
  { projectDir, step }: { projectDir: string; step?: number | undefined },
): Promise<EvalTarget> {
  if (isPredictions(reference)) return predictionsTarget(reference)
  const run = await runOf(store, reference)
  if (run === undefined) return modelTarget(reference)
  const saved = (await store.checkpoints(run.id)).filter(({ kind }) => kind === 'sampler' || kind === 'state')
  const wanted = step ?? run.bestStep ?? saved.at(-1)?.step
  const at = saved.filter((each) => each.step === wanted)
  const checkpoint = at.find(({ kind }) => kind === 'sampler') ?? at[0]
  if (checkpoint === undefined)
    throw noCheckpoint(
      run,
      saved.map((each) => each.step),
      step,
    )
  return {
    label: `${run.name} at step ${checkpoint.step}`,
    client: checkpointClient(run, checkpoint.ref, projectDir),
    run: { id: run.id, name: run.name, step: checkpoint.step, experimentId: run.experimentId },
  }
}

export function modelTarget(name: string): EvalTarget {
  return name.trimStart().startsWith('{') ? namedModel(writtenOut(name)) : namedModel(name)
}

/** A file with answers of another system. */
function isPredictions(reference: string): boolean {
  return /\.(csv|jsonl)$/i.test(reference) && existsSync(reference)
}

function predictionsTarget(path: string): EvalTarget {
  const agent = { kind: 'predictions', params: { path: resolve(path) } }
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
  try {
    return await store.findRun(reference)
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
