// Opens what a run needs: the model at its start or at a checkpoint, the renderer, the book of its checkpoints, its reference.
import type { SharedParams } from '../../algorithms/index.ts'
import type { OpenRenderer, RunAssignment } from '../../contracts/index.ts'
import { EvsysError } from '../../kernel/index.ts'
import { CheckpointBook } from './checkpoint-book.ts'
import { equipRenderers } from './equip-renderers.ts'
import type { LoopCallbacks } from './loop-callbacks.ts'
import { type OpenModel, openModel } from './open-model.ts'
import { createOtherModels } from './other-models.ts'
import { referenceWeights } from './reference-weights.ts'
import type { RunServices } from './run-context.ts'
import type { RunReporter } from './run-reporter.ts'
import type { AskScore, AskTrials, RunScope } from './run-scope.ts'

export interface TrainRunOptions {
  readonly assignment: RunAssignment
  readonly services: RunServices
  readonly reporter: RunReporter
  readonly askScore: AskScore
  readonly askTrials?: AskTrials
  /** Aborted: save and leave. The services' signal, aborted: leave at once. */
  readonly stopping: AbortSignal
}

/** The scope of a run, at the place where it goes on. Disposing of it closes the model that it then has. */
export async function openRun(
  options: TrainRunOptions,
  shared: SharedParams,
  callbacks: LoopCallbacks,
): Promise<RunScope & AsyncDisposable> {
  const { assignment, services, reporter, askScore, askTrials, stopping } = options
  const { resume } = assignment
  const model = await reopenModel(
    options,
    shared,
    resume === undefined ? undefined : { uri: resume.uri, optimizer: true },
  )
  try {
    checkEngine(assignment, model)
    const renderer = await openRenderer(assignment, shared, model, services)
    const openStart = () => reopenModel(options, shared, undefined)
    const reference = await referenceWeights({ assignment, model, openStart })
    const book = bookOf(assignment)
    const others = createOtherModels({ assignment, services, model: () => scope.model })
    const parts = {
      assignment,
      services,
      reporter,
      askScore,
      askTrials,
      stopping,
      callbacks,
      book,
      renderer,
      reference,
      others,
    }
    const scope: RunScope = { ...parts, evals: assignment.past.evals, model }
    return Object.assign(scope, {
      async [Symbol.asyncDispose]() {
        try {
          await others[Symbol.asyncDispose]()
          if ('uri' in reference) await scope.model.drop(reference)
        } finally {
          await scope.model[Symbol.asyncDispose]()
        }
      },
    })
  } catch (error) {
    await model[Symbol.asyncDispose]()
    throw error
  }
}

/** The model at a checkpoint of this run, or with the weights that the run starts from. */
export function reopenModel(
  { assignment, services }: TrainRunOptions,
  shared: SharedParams,
  at: { uri: string; optimizer: boolean } | undefined,
): Promise<OpenModel> {
  const { config, run_dir: runDir, start_weights } = assignment
  const { load_checkpoint_path, init_from_checkpoint } = config.model
  const start = start_weights ?? init_from_checkpoint
  const state = (address: string, optimizer: boolean) => ({ ref: { kind: 'state' as const, uri: address }, optimizer })
  const from =
    at !== undefined
      ? state(at.uri, at.optimizer)
      : load_checkpoint_path !== undefined
        ? state(load_checkpoint_path, true)
        : start !== undefined
          ? state(start, false)
          : undefined
  const loraRank = shared.lora_rank === 0 ? undefined : shared.lora_rank
  return openModel({ config, loraRank, runDir, services, from })
}

function bookOf({ past, objective }: RunAssignment): CheckpointBook {
  const book = new CheckpointBook(past.checkpoints, objective)
  for (const { benchmark, split, step, metrics } of past.evals) {
    if (split === 'val' && benchmark === objective?.benchmark) book.judge(step, metrics)
  }
  return book
}

async function openRenderer(
  { config }: RunAssignment,
  shared: SharedParams,
  { backend }: OpenModel,
  services: RunServices,
): Promise<OpenRenderer> {
  const { chatTemplate, tokenizer } = backend
  const [plain, templated = plain] = equipRenderers(config, shared, services)
  const { plugin, context } = chatTemplate === undefined ? plain : templated
  const opened = await plugin.open({ ...context, tokenizer, ...(chatTemplate === undefined ? {} : { chatTemplate }) })
  return (await services.data?.withTokens?.(opened, { plugin, backend })) ?? opened
}

function checkEngine({ resume }: RunAssignment, { backend }: OpenModel): void {
  if (resume === undefined || resume.engine_id === backend.engineId) return
  throw new EvsysError(
    'BACKEND_FAILED',
    `the run was begun on engine ${resume.engine_id} and would go on on ${backend.engineId}: its numbers would not repeat`,
    { fix: 'resume with the version that began it, or start the experiment anew' },
  )
}
