// The training protocol over an engine in this process: numbered requests, futures, checkpoints in files.
import type {
  CheckpointKind,
  Datum,
  Engine,
  EngineOp,
  EngineResult,
  Future,
  FwdBwd,
  Loss,
  Metrics,
  RefOf,
  TrainingService,
} from '../../contracts/index.ts'
import { type Clock, EvsysError, onAbort } from '../../kernel/index.ts'
import { readCheckpoint, removeCheckpoint, writeCheckpoint } from './checkpoint-files.ts'
import { customForwardBackward } from './custom-loss.ts'
import { SamplerModels } from './sampler-models.ts'
import { SequenceQueue } from './sequence-queue.ts'

export type MockServiceOptions = {
  engine: Engine
  /** The one model in training; it exists in the engine. */
  modelId: string
  runDir: string
  signal: AbortSignal
  clock: Clock
  /** How long an answer is on its way. Work is not delayed by it: requests sent together arrive together. */
  latencyMs?: number
  /** The optimiser step that fails, counted from 0. */
  failAtStep?: number | undefined
}

/** A service for one model. Closing it ends the requests that wait; the engine is the opener's to close. */
export function createMockService(options: MockServiceOptions): TrainingService & Disposable {
  const { engine, modelId, runDir, signal, clock, latencyMs = 0, failAtStep } = options
  const queue = new SequenceQueue()
  const samplers = new SamplerModels(engine, signal)
  const saved = new Set<string>()
  let steps = 0

  const run = <K extends ResultKey>(op: EngineOp, key: K) => engineResult(engine, op, key, signal)

  const arriving = <T>(work: Promise<T>): Future<T> => {
    const future =
      latencyMs === 0 ? work : Promise.all([work, clock.sleep(latencyMs, signal)]).then(([result]) => result)
    future.catch(() => {}) // the caller may still await an earlier request when this one fails
    return future
  }

  const inOrder = <T>(model: string, seq: number, work: () => Promise<T>): Future<T> =>
    arriving(
      model === modelId
        ? queue.submit(seq, work)
        : Promise.reject(refused(`no model is called "${model}"`, `use "${modelId}".`)),
    )

  const pass = (op: 'forward' | 'forward_backward', data: readonly Datum[], loss: Loss): Promise<FwdBwd> => {
    if (!('custom' in loss)) return run({ op, model: modelId, data, loss }, 'fwdBwd')
    return customForwardBackward(data, loss, { backward: op === 'forward_backward', pass, signal })
  }

  const stopListening = onAbort(signal, () => queue.close(signal.reason))

  return {
    forward: (model, data, loss, seq) => inOrder(model, seq, () => pass('forward', data, loss)),
    forwardBackward: (model, data, loss, seq) => inOrder(model, seq, () => pass('forward_backward', data, loss)),
    optimStep: (model, adam, seq) =>
      inOrder(model, seq, async (): Promise<Metrics> => {
        if (steps++ === failAtStep) throw refused(`step ${failAtStep} fails, as asked`, 'leave out fail_at_step.')
        return run({ op: 'optim_step', model, adam }, 'metrics')
      }),
    save: <K extends CheckpointKind>(model: string, name: string, { kind, seq }: { kind: K; seq: number }) =>
      inOrder(model, seq, async (): Promise<RefOf<K>> => {
        if (saved.has(`${kind}/${name}`))
          throw refused(`a ${kind} called "${name}" was saved before`, 'choose a new name.')
        const bytes = await run({ op: kind === 'state' ? 'export_state' : 'export', model }, 'bytes')
        const uri = await writeCheckpoint(runDir, kind, name, bytes)
        saved.add(`${kind}/${name}`)
        return { kind, uri }
      }),
    snapshot: (model, seq) =>
      inOrder(model, seq, async () => samplers.addSnapshot(await run({ op: 'export', model }, 'bytes'))),
    load: (model, ref, { optimizer, seq }) =>
      inOrder(model, seq, async () => {
        if (seq !== 1)
          throw refused('weights are loaded by the first request of a model', 'open the backend anew to load.')
        await run({ op: 'import', model, bytes: await readCheckpoint(ref), optimizer }, 'done')
      }),
    sample: (request) => arriving(samplers.sample(request)),
    remove: (ref) => arriving(samplers.forget(ref.uri) ? Promise.resolve() : removeCheckpoint(ref)),
    [Symbol.dispose]() {
      stopListening()
      queue.close(refused('the backend was closed before this request took effect', 'await requests before closing.'))
    },
  }
}

type ResultKey = EngineResult extends infer R ? (R extends unknown ? keyof R : never) : never
type ResultOf<K extends ResultKey> = Extract<EngineResult, Readonly<Record<K, unknown>>>[K]

async function engineResult<K extends ResultKey>(
  engine: Engine,
  op: EngineOp,
  key: K,
  signal: AbortSignal,
): Promise<ResultOf<K>> {
  const result = await engine.run(op, signal)
  if (key in result) return Reflect.get(result, key) as ResultOf<K> // the key tells the member of the union
  throw new TypeError(`the engine answered ${op.op} without ${key}`)
}

function refused(message: string, fix: string): EvsysError {
  return new EvsysError('BACKEND_FAILED', `mock backend: ${message}`, { fix })
}
