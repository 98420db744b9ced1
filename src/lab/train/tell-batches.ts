import type { OpenBackend, TrainingService } from '../../contracts/index.ts'
import type { RunServices } from './run-context.ts'

/** The service of a backend; whoever watches the data of the run hears of every batch that is sent to it. */
export function tellBatches({ service, tokenizer }: OpenBackend, { data: watcher }: RunServices): TrainingService {
  if (watcher?.onBatch === undefined) return service
  const told: TrainingService['forwardBackward'] = (model, data, loss, seq) => {
    watcher.onBatch?.(data, tokenizer)
    return service.forwardBackward(model, data, loss, seq)
  }
  return new Proxy(service, {
    get(target, key) {
      if (key === 'forwardBackward') return told
      const value: unknown = Reflect.get(target, key)
      return typeof value === 'function' ? value.bind(target) : value
    },
  })
}
