// Which model is trained, and which checkpoints it takes.
import { isDeepStrictEqual } from 'node:util'
import type { LoraSpec } from '../contracts/index.ts'
import type { Checkpoint, CheckpointTensor } from './files/checkpoint.ts'
import { checkLora, loraAlpha } from './lora-spec.ts'
import { refused } from './refused.ts'

export interface ModelSpec {
  readonly baseModel: string
  /** Absent: all weights are trained. */
  readonly lora?: LoraSpec | undefined
}

/** Refuses a checkpoint of another model. The seed only decided how training began. */
export function checkFits({ baseModel, lora }: Checkpoint, into: ModelSpec | undefined): void {
  if (lora !== undefined) checkLora(lora)
  if (into === undefined) return
  if (baseModel !== into.baseModel) {
    throw refused(`the checkpoint’s base model is ${baseModel}, the model’s is ${into.baseModel}`, equal)
  }
  const [saved, wanted] = [lora, into.lora].map((spec) => (spec === undefined ? undefined : { ...spec, seed: 0 }))
  if (!isDeepStrictEqual(saved, wanted)) {
    throw refused(`the checkpoint’s adapter is ${words(saved)}, the model’s is ${words(wanted)}`, equal)
  }
}

/** Refuses a checkpoint that does not hold what it is asked for. */
export function checkHolds({ lora, alpha, adam }: Checkpoint, { optimizer }: { optimizer: boolean }): void {
  if (lora !== undefined && alpha !== loraAlpha) {
    throw refused(`the checkpoint’s alpha is ${alpha}, this engine’s is ${loraAlpha}`, 'use a checkpoint of evsys.')
  }
  if (optimizer && adam === undefined) {
    throw refused(
      'the checkpoint holds no optimiser state',
      'load it without the optimiser, or use a `state` checkpoint.',
    )
  }
}

/** Refuses tensors of other names or shapes than these. */
export function checkTensors(
  source: ReadonlyMap<string, CheckpointTensor>,
  shapes: ReadonlyMap<string, readonly number[]>,
): void {
  const strange = [...source.keys()].find((name) => !shapes.has(name))
  if (strange !== undefined) throw unfit(`a tensor "${strange}" that the model does not have`)
  for (const [name, shape] of shapes) {
    const saved = source.get(name)
    if (saved === undefined) throw unfit(`no tensor "${name}"`)
    if (saved.shape.join() !== shape.join()) {
      throw unfit(`a tensor "${name}" of the shape [${saved.shape.join(', ')}] for [${shape.join(', ')}]`)
    }
  }
}

const equal = 'use a checkpoint of an equal model.'
const unfit = (what: string) => refused(`the checkpoint holds ${what}`, equal)

function words(lora: ModelSpec['lora']): string {
  if (lora === undefined) return 'none'
  const parts = [
    ...(lora.trainAttention ? ['attention'] : []),
    ...(lora.trainMlp ? ['mlp'] : []),
    ...(lora.trainUnembedding ? ['unembedding'] : []),
  ]
  return `of rank ${lora.rank} (${parts.join(', ')})`
}
