// How a request of a model becomes a promise: it is checked, known again if it was sent before, and waits for its turn.
import { HttpError } from '../http/http-error.ts'
import type { Answer } from '../state/futures.ts'
import type { TrainedModel } from '../state/trained-model.ts'
import type { TrainerState } from '../state/trainer-state.ts'
import type { Promised } from './create-model.ts'

export type Numbered = { readonly model_id: string; readonly seq_id?: number | null | undefined }
export type Prepared = { readonly work: () => Promise<Answer>; readonly settled?: () => void }

// Checks first, then asks whether this is a repetition, then takes its number: a refused request uses its number up, since
// its client goes on counting.
export function submit(
  state: TrainerState,
  { model_id, seq_id }: Numbered,
  hash: string,
  check: (model: TrainedModel) => () => Prepared,
): Promised {
  const model = state.model(model_id)
  const seq = seq_id == null || seq_id === 0 ? undefined : seq_id
  try {
    if (model.lost !== undefined) throw new HttpError(410, model.lost)
    const prepare = check(model)
    const earlier = seq === undefined ? undefined : model.gate.earlier(seq, hash)
    if (earlier !== undefined) return { request_id: earlier, model_id }
    const { work, settled } = prepare()
    const requestId = `${model_id}:${seq ?? `at-${++unnumbered}`}`
    const future = state.futures.open(requestId, { sessionId: model.run.session_id })
    if (settled !== undefined) void future.settled.then(settled)
    const begin = () => {
      future.waitsFor = undefined
      state.enqueue(model_id, future, work)
    }
    if (seq === undefined) begin()
    else {
      future.waitsFor = () => `waiting for the request with seq_id ${model.gate.missing} of this model`
      const fail = (missing: number) =>
        state.futures.settle(future, {
          failure: { error: `the request with seq_id ${missing} of this model never came`, category: 'user' },
        })
      model.gate.enter(seq, { hash, requestId }, { begin, fail })
    }
    return { request_id: requestId, model_id }
  } catch (error) {
    if (seq !== undefined && !(error instanceof HttpError && error.status === 409)) model.gate.skip(seq)
    throw error
  }
}

let unnumbered = 0
