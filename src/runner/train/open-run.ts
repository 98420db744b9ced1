// Opens what a run needs: the model at its start or at a checkpoint, the renderer, the book of its checkpoints, its reference.

import { join } from 'node:path'
import type { SharedParams } from '../../algorithms/index.ts'
import {
  armReference,
  type OpenInferenceClient,
  type OpenRenderer,
  type OtherModels,
  type RunAssignment,
  type Weights,
} from '../../contracts/index.ts'
import { canonicalJson, EvsysError } from '../../kernel/index.ts'
import { CheckpointBook } from './checkpoint-book.ts'
import type { LoopCallbacks } from './loop-callbacks.ts'
import { type OpenModel, openModel } from './open-model.ts'
import { equipRenderers, type RunServices } from './run-context.ts'
import type { Evaluate, RunReporter, RunScope } from './run-scope.ts'

export interface TrainRunOptions {
  readonly assignment: RunAssignment
  readonly services: RunServices
  readonly reporter: RunReporter
  readonly evaluate: Evaluate
  /** Aborted: save and leave. The services' signal, aborted: leave at once. */
  readonly stopping: AbortSignal
  /** What an answer of a model beside the one in training costs, where its price is known. */
  onCost?: ((usd: number) => void) | undefined
}

/** The scope of a run, at the place where it resumes. Disposing of it closes the model that it then has. */
export async function openRun(
  options: TrainRunOptions,
  shared: SharedParams,
  callbacks: LoopCallbacks,
): Promise<RunScope & AsyncDisposable> {
  const { assignment, services } = options
  const { resume } = assignment
  const model = await reopenModel(options, shared, resume && { uri: resume.uri, optimizer: true })
  try {
    checkEngine(assignment, model)
    const renderer = await openRenderer(assignment, shared, model, services)
    const reference = await referenceWeights(assignment, model, () => reopenModel(options, shared, undefined))
    const book = bookOf(assignment)
    const others = createOtherModels({ assignment, services, onCost: options.onCost, model: () => scope.model })
    const opened = { callbacks, book, renderer, reference, others, model }
    let evaluations = 0
    const nextEvaluation = () => {
      evaluations += 1
      return evaluations
    }
    const scope: RunScope = { ...options, ...opened, nextEvaluation, evals: assignment.past.evals }
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
  { assignment, services, stopping }: TrainRunOptions,
  shared: SharedParams,
  at: { uri: string; optimizer: boolean } | undefined,
): Promise<OpenModel> {
  const { config, run_dir: runDir, start_weights } = assignment
  const { load_checkpoint_path, init_from_checkpoint } = config.model
  const start = start_weights ?? init_from_checkpoint
  const uri = at?.uri ?? load_checkpoint_path ?? start
  const optimizer = at?.optimizer ?? load_checkpoint_path !== undefined
  const from = uri === undefined ? undefined : { ref: { kind: 'state' as const, uri }, optimizer }
  const loraRank = shared.lora_rank === 0 ? undefined : shared.lora_rank
  return openModel({ config, loraRank, runDir, services, from, stopping })
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
  const opened = await plugin.open({ ...context, tokenizer, chatTemplate })
  return (await services.data?.withTokens?.(opened, { plugin, backend })) ?? opened
}

function checkEngine({ resume }: RunAssignment, { backend }: OpenModel): void {
  if (resume === undefined || resume.engine_id === backend.engineId) return
  const message = `the run was begun on engine ${resume.engine_id} and would resume on ${backend.engineId}: its numbers would not repeat`
  throw new EvsysError('BACKEND_FAILED', message, {
    fix: 'resume with the version that began it, or start the experiment anew',
  })
}

// Models beside the one in training, for recipes that learn from them. Answers of a model behind an API are kept in the folder of the
// run, so that a run that resumes asks for nothing twice.
interface OtherModelsOptions {
  readonly assignment: Pick<RunAssignment, 'arm_weights' | 'run_dir'>
  readonly services: RunServices
  readonly onCost: TrainRunOptions['onCost']
  /** The model in training, as it is at the moment. */
  model(): OpenModel
}

/** Opens a client when it is first asked for; disposing of it closes them. */
function createOtherModels({ assignment, services, onCost, model }: OtherModelsOptions): OtherModels & AsyncDisposable {
  const opened = new Map<string, Promise<OpenInferenceClient>>()
  return {
    weights(checkpoint) {
      const arm = armReference(checkpoint)
      const uri = arm === undefined ? checkpoint : assignment.arm_weights[arm]
      if (uri !== undefined) return { kind: 'sampler', uri }
      throw new EvsysError('BACKEND_FAILED', `the arm ${arm} has no weights to sample from`, {
        fix: 'let it save_sampler, and let it complete before this one.',
      })
    },
    async tokenizerOf(baseModel) {
      const { tokenizerOf } = model().backend
      if (tokenizerOf !== undefined) return await tokenizerOf(baseModel)
      throw new EvsysError('BACKEND_FAILED', `the backend does not know the tokenizer of ${baseModel}`, {
        fix: 'use a backend that does, such as local or tinker.',
      })
    },
    async client(which) {
      const { meterUsage, modelClient, openInferenceClient } = await import('../../models/index.ts') // few runs have a teacher
      const spec = typeof which === 'string' ? modelClient(which) : which
      const key = canonicalJson(spec)
      const folder = join(assignment.run_dir, 'answers')
      const open = async () => {
        let paid = 0
        const asked = await openInferenceClient(spec, services, { cassette: { folder, mode: 'auto' } })
        return meterUsage(asked, ({ costUsd }) => {
          if (costUsd > paid) onCost?.(costUsd - paid)
          paid = costUsd
        }).client
      }
      const client = opened.get(key) ?? open()
      opened.set(key, client)
      return await client
    },
    async [Symbol.asyncDispose]() {
      for (const each of opened.values()) await (await each.catch(() => undefined))?.[Symbol.asyncDispose]?.()
    },
  }
}

// The weights that a run started from, to sample from while it trains away from them: the reference of a KL penalty, the teacher
// of self-distillation. They stay the same over a roll-back and after a resume.
// Saved only where a run starts from other weights than its base model. `openStart` opens the model at the start of the run.
async function referenceWeights(
  { attempt, config, resume, start_weights }: RunAssignment,
  model: OpenModel,
  openStart: () => Promise<OpenModel>,
): Promise<Weights> {
  const { name, init_from_checkpoint, load_checkpoint_path } = config.model
  if ((start_weights ?? init_from_checkpoint ?? load_checkpoint_path) === undefined) return { baseModel: name }
  const saved = `reference.${attempt}`
  if (resume === undefined) return await model.save(saved, 'sampler')
  const start = await openStart()
  try {
    return await start.save(saved, 'sampler')
  } finally {
    await start[Symbol.asyncDispose]()
  }
}
