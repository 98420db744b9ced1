import { keyedRandom } from '../kernel/index.ts'

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
