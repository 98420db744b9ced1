// Weights of another arm: `arm:NAME` where a checkpoint is asked for. It means the final weights of the run of that arm that has the
// same seed; the run that refers to it waits for it.
import type { RunConfig } from './run-config.ts'
import { teachersOf } from './teacher-spec.ts'

const form = /^arm:(.+)$/s

/** The name of the arm; undefined where the text is no reference to one. */
export function armReference(checkpoint: string | undefined): string | undefined {
  return form.exec(checkpoint ?? '')?.[1]
}

/** Every arm whose weights a run needs. */
export function referencedArms({ model, algorithm }: Pick<RunConfig, 'model' | 'algorithm'>): string[] {
  const teachers = teachersOf(algorithm.params).map(({ checkpoint }) => checkpoint)
  return [...new Set([model.init_from_checkpoint, ...teachers].flatMap((each) => armReference(each) ?? []))]
}
