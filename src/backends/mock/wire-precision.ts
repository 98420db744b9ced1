// The wire of the training protocol carries inputs of losses and log-probabilities as float32. An engine that is called
// directly rounds them too, so that the same run gives the same numbers in this process and over HTTP.
import type { Datum, Engine, EngineOp, EngineResult, Sample, Tensor } from '../../contracts/index.ts'

/** The engine as it looks from the other end of a wire. */
export function atWirePrecision(engine: Engine): Engine {
  return {
    id: engine.id,
    run: async (op, signal) => received(await engine.run(sent(op), signal)),
    [Symbol.asyncDispose]: () => engine[Symbol.asyncDispose](),
  }
}

function sent(op: EngineOp): EngineOp {
  if (op.op !== 'forward' && op.op !== 'forward_backward') return op
  return { ...op, data: op.data.map((datum): Datum => ({ ...datum, lossInputs: rounded(datum.lossInputs) })) }
}

function received(result: EngineResult): EngineResult {
  if ('fwdBwd' in result) return { fwdBwd: { ...result.fwdBwd, outputs: result.fwdBwd.outputs.map(rounded) } }
  return 'samples' in result ? { samples: result.samples.map(roundedSample) } : result
}

function rounded(tensors: Readonly<Record<string, Tensor>>): Record<string, Tensor> {
  return Object.fromEntries(
    Object.entries(tensors).map(([name, { data, shape }]) => [
      name,
      { data: data instanceof Float64Array ? Float32Array.from(data) : data, shape },
    ]),
  )
}

function roundedSample(sample: Sample): Sample {
  const { logprobs, promptLogprobs, topKPromptLogprobs: top } = sample
  return {
    ...sample,
    logprobs: logprobs.map(Math.fround),
    ...(promptLogprobs === undefined ? {} : { promptLogprobs: promptLogprobs.map(Math.fround) }),
    ...(top === undefined ? {} : { topKPromptLogprobs: { ...top, logprobs: top.logprobs.map(Math.fround) } }),
  }
}
