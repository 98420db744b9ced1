// Which model is trained, and which checkpoints it takes.
import { isDeepStrictEqual } from 'node:util'
import type { LoraSpec } from '../../contracts/index.ts'
import { keyedRandom } from '../../kernel/index.ts'
import { refused } from '../refused.ts'
import type { Checkpoint, CheckpointTensor } from './checkpoint.ts'

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

// What holds for the adapters of every engine.
/**
 * Numerator of an adapter's scale, alpha / rank: with it the best learning rate hardly depends on the rank. The protocol has no
 * field for it; 32 is what the hosted service uses.
 */
export const loraAlpha = 32

/** More than any use of an adapter needs. */
const largestRank = 4096

/** Refuses an adapter that could not be trained. */
export function checkLora({ rank, seed, trainAttention, trainMlp, trainUnembedding }: LoraSpec): void {
  if (!(Number.isSafeInteger(rank) && rank >= 1 && rank <= largestRank)) {
    throw refused(`the adapter has rank ${rank}`, `use a whole number from 1 to ${largestRank}.`)
  }
  if (!Number.isSafeInteger(seed)) throw refused(`the adapter has seed ${seed}`, 'use a whole number.')
  if (!(trainAttention || trainMlp || trainUnembedding)) {
    throw refused('the adapter would train nothing', 'switch on at least one part.')
  }
}

/** Text of tokens; finds where a completion has reached a stop text. */
export type Decode = (tokens: readonly number[]) => string

/** What a base model's name stands for. */
export interface ResolvedModel {
  /** With `config.json` and the weights in safetensors format. */
  readonly folder: string
  /** Opens what makes text of tokens. Absent: completions cannot stop at a text, only at tokens. */
  readonly openDecode?: (() => Promise<Decode>) | undefined
}

/**
 * The first values of an adapter's matrix. A is uniform within 1 / sqrt(inputs), as PEFT draws it (Kaiming with a = sqrt 5); B is
 * zero, so an untrained adapter changes nothing. Each matrix has its own key: it is the same whatever else is trained.
 */
export function initialAdapter(name: string, [rows = 0, columns = 0]: readonly number[], seed: number): Float64Array {
  if (name.endsWith('.lora_B.weight')) return new Float64Array(rows * columns)
  const random = keyedRandom(seed, 'lora', name)
  const bound = 1 / Math.sqrt(columns)
  return Float64Array.from({ length: rows * columns }, () => bound * (2 * random.float() - 1))
}
