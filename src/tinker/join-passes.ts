// The answers to the parts of a batch as the answer to the whole.
import type { FwdBwd, NamedLoss, Tensor } from '../contracts/index.ts'
import type * as tinker from '../contracts/tinker/index.ts'
import { reduceMetrics } from './reduce-metrics.ts'
import { ServiceError } from './service-error.ts'
import type { Part } from './split-batch.ts'
import { fromWireTensor } from './wire-datum.ts'

/** One record per datum, in order; anything else is an answer that makes no sense. */
export function joinPasses(
  parts: readonly Part[],
  answers: readonly tinker.ForwardBackwardOutput[],
  loss: NamedLoss,
): FwdBwd {
  const outputs = parts.flatMap(({ data }, index) => {
    const records = answers[index]?.loss_fn_outputs ?? []
    if (records.length !== data.length) {
      throw new ServiceError('protocol', `${data.length} datums were sent, ${records.length} records came back`)
    }
    return records.map(fromRecord)
  })
  const metrics = reduceMetrics(
    answers.map((answer) => ({ metrics: answer.metrics, datums: answer.loss_fn_outputs.length })),
  )
  return { outputs, metrics: withLoss(metrics, parts, outputs, loss) }
}

function fromRecord(record: Readonly<Record<string, tinker.TensorData>>): Record<string, Tensor> {
  return Object.fromEntries(Object.entries(record).map(([name, tensor]) => [name, fromWireTensor(tensor)]))
}

// SkyRL reports no metrics. The loss of cross entropy follows from what it does report.
function withLoss(metrics: FwdBwd['metrics'], parts: readonly Part[], outputs: FwdBwd['outputs'], loss: NamedLoss) {
  if ('loss:sum' in metrics || loss.name !== 'cross_entropy') return metrics
  let sum = 0
  for (const [index, { lossInputs }] of parts.flatMap(({ data }) => data).entries()) {
    const logprobs = outputs[index]?.logprobs?.data ?? []
    for (let at = 0; at < logprobs.length; at++) {
      const weight = lossInputs.weights === undefined ? 1 : (lossInputs.weights.data[at] ?? 0)
      if (weight !== 0) sum -= weight * (logprobs[at] ?? 0)
    }
  }
  return { ...metrics, 'loss:sum': sum }
}
