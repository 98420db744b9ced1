// The weights that a run started from, to sample from while it trains away from them: the reference of a KL penalty, the teacher
// of self-distillation. They stay the same over a roll-back and after a resume.
import type { RunAssignment, Weights } from '../../contracts/index.ts'
import type { OpenModel } from './open-model.ts'

export interface ReferenceOptions {
  readonly assignment: RunAssignment
  /** The model as the run found it at the beginning of this attempt. */
  readonly model: OpenModel
  /** Opens the model at the start of the run. */
  openStart(): Promise<OpenModel>
}

/** Saves weights only where a run starts from other ones than its base model. */
export async function referenceWeights({ assignment, model, openStart }: ReferenceOptions): Promise<Weights> {
  const { attempt, config, resume, start_weights } = assignment
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
