// Rotary position embedding (Su et al. 2021) and its scalings for long contexts. Pairs are (i, i + half), as in transformers.
import type { ModelShape, Rope } from '../files/model-shape.ts'

export interface Rotation {
  /** Angle per position of each pair. */
  readonly frequencies: Float64Array
  /** Factor of what is rotated. */
  readonly scale: number
}

/** The rotation of a model. */
export function rotationOf({ headDim, rope }: ModelShape): Rotation {
  const plain = Float64Array.from({ length: headDim / 2 }, (_, i) => 1 / rope.theta ** ((2 * i) / headDim))
  switch (rope.type) {
    case 'default':
      return { frequencies: plain, scale: 1 }
    case 'linear':
      return { frequencies: plain.map((frequency) => frequency / rope.factor), scale: 1 }
    case 'llama3':
      return { frequencies: plain.map((frequency) => llama3(frequency, rope)), scale: 1 }
    case 'yarn':
      return { frequencies: yarn(plain, headDim, rope), scale: rope.attentionFactor }
  }
}

/**
 * Rotates rows of heads, in place; row 0 stands at position `start`. `direction` -1 turns a gradient back: a rotation's transpose
 * is its inverse, and the scale stays.
 */
export function rotate(x: Float64Array, rows: number, start: number, rotation: Rotation, direction: 1 | -1 = 1): void {
  const { frequencies, scale } = rotation
  const half = frequencies.length
  const width = x.length / rows
  for (let t = 0; t < rows; t++) {
    for (let i = 0; i < half; i++) {
      const angle = (start + t) * (frequencies[i] ?? 0)
      const cos = scale * Math.cos(angle)
      const sin = direction * scale * Math.sin(angle)
      for (let at = t * width + i; at < (t + 1) * width; at += 2 * half) {
        const a = x[at] ?? 0
        const b = x[at + half] ?? 0
        x[at] = a * cos - b * sin
        x[at + half] = b * cos + a * sin
      }
    }
  }
}

// Slow waves are stretched, fast ones kept, those between blended.
function llama3(frequency: number, rope: Extract<Rope, { type: 'llama3' }>): number {
  const { factor, lowFreqFactor, highFreqFactor, originalMaxPositions } = rope
  const turns = (originalMaxPositions * frequency) / (2 * Math.PI)
  if (turns < lowFreqFactor) return frequency / factor
  if (turns > highFreqFactor) return frequency
  const smooth = (turns - lowFreqFactor) / (highFreqFactor - lowFreqFactor)
  return (1 - smooth) * (frequency / factor) + smooth * frequency
}

// YaRN (Peng et al. 2023), equations 17 to 20: a ramp from the pairs that turn often to those that hardly turn.
function yarn(plain: Float64Array, headDim: number, rope: Extract<Rope, { type: 'yarn' }>): Float64Array {
  const { theta, factor, betaFast, betaSlow, originalMaxPositions, truncate } = rope
  const pairOf = (turns: number) =>
    (headDim * Math.log(originalMaxPositions / (turns * 2 * Math.PI))) / (2 * Math.log(theta))
  const [first, last] = [pairOf(betaFast), pairOf(betaSlow)]
  const low = Math.max(truncate ? Math.floor(first) : first, 0)
  const high = Math.min(truncate ? Math.ceil(last) : last, headDim - 1)
  const width = low === high ? 0.001 : high - low
  return plain.map((frequency, i) => {
    const ramp = Math.min(1, Math.max(0, (i - low) / width))
    return (frequency / factor) * ramp + frequency * (1 - ramp)
  })
}
