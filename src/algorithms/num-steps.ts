// How long a run is.
import { EvsysError } from '../kernel/index.ts'
import type { SharedParams } from './shared-params.ts'

/** Training steps: `max_steps`, or whole batches per epoch times epochs. Rows that fill no step wait for the next epoch. */
export function numSteps(
  rows: number,
  {
    max_steps,
    num_epochs,
    batch_size,
    gradient_accumulation_steps = 1,
  }: Pick<SharedParams, 'max_steps' | 'num_epochs' | 'batch_size'> & Partial<SharedParams>,
): number {
  if (rows <= 0) {
    throw new EvsysError('DATA_INVALID', 'there is no row to train on', {
      fix: 'check the data file, and whether a transform drops every row.',
    })
  }
  return max_steps ?? num_epochs * stepsPerEpoch(rows, batch_size * gradient_accumulation_steps)
}

/** Whole batches in the data; one where the data is smaller than a batch. */
export function stepsPerEpoch(rows: number, batchSize: number): number {
  return Math.max(1, Math.floor(rows / batchSize))
}
