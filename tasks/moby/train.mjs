// A small transformer over bytes on the embedded engine, trained by AdamW with a warm-up and a rate that falls.
import { createModel, evaluate, getTrainLoader, progress, reportCurve, reportResults, saveModel } from './api.mjs'

const LEARNING_RATE = 0.001
const BATCH_SIZE = 16
const LENGTH = 64
const LAYERS = 2
const HIDDEN_SIZE = 64
const HEADS = 4
const BETA2 = 0.99
const WEIGHT_DECAY = 0.01
const WARMUP = 0.05
const FINAL_RATE = 0.5
const SPREAD = 0.02

const model = await createModel(
  { layers: LAYERS, hidden_size: HIDDEN_SIZE, intermediate_size: 3 * HIDDEN_SIZE, heads: HEADS },
  { spread: SPREAD },
)
let smoothed = Math.log(256)
let step = 0
for (const windows of getTrainLoader({ batchSize: BATCH_SIZE, length: LENGTH })) {
  const done = progress()
  const rate = done < WARMUP ? done / WARMUP : 1 - ((done - WARMUP) / (1 - WARMUP)) * (1 - FINAL_RATE)
  const loss = await model.step(windows, {
    learningRate: LEARNING_RATE * Math.max(rate, 0.001),
    beta2: BETA2,
    weightDecay: WEIGHT_DECAY,
    gradClipNorm: 1,
  })
  smoothed += 0.1 * (loss - smoothed)
  if (++step % 10 === 0) reportCurve(smoothed / Math.LN2)
}
await saveModel(model)
reportResults({ val_bpb: await evaluate(model), parameters: model.parameters, steps: step })
