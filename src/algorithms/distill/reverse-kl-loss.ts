// Reverse KL of the student from its teacher, in every place, over the teacher's K likeliest tokens and one more outcome: any other
// token. With p the student and q the teacher,
//   KL = sum_k p_k (log p_k - log q_k) + P (log P - log Q),  P = 1 - sum_k p_k,  Q = 1 - sum_k q_k.
// Merging outcomes never raises a divergence, so this is a lower bound of the whole one, and equal to it when K is the vocabulary.
//   d KL / d log p_k = p_k (log p_k - log q_k - log P + log Q)
import type { Datum, Metrics, Tensor } from '../../contracts/index.ts'

/** A teacher's log-probabilities of the targets, row-major like them; NaN where there is no target. */
export type TeacherLogprobs = Float64Array

/** Mass below which an outcome counts as this likely: it bounds the loss where the teacher rules something out. */
const least = 1e-6

/** A sum over places, with its gradient by the student's log-probabilities. */
export function reverseKlLoss(
  data: readonly Datum[],
  logprobs: readonly Tensor[],
  teachers: readonly TeacherLogprobs[],
  coef: number,
): { loss: number; gradients: Tensor[]; metrics: Metrics } {
  let total = 0
  let places = 0
  const gradients = data.map((_, i): Tensor => {
    const student = logprobs[i] ?? { data: new Float64Array(), shape: [0, 1] }
    const teacher = teachers[i] ?? new Float64Array()
    const [length = 0, k = 1] = student.shape
    const gradient = new Float64Array(length * k)
    for (let t = 0; t < length; t++) {
      if (Number.isNaN(teacher[t * k] ?? Number.NaN)) continue
      places += 1
      total += placeKl(student.data, teacher, gradient, t * k, k, coef)
    }
    return { data: gradient, shape: [...student.shape] }
  })
  return { loss: coef * total, gradients, metrics: { 'opd/kl': places === 0 ? 0 : total / places } }
}

function placeKl(
  student: ArrayLike<number>,
  teacher: ArrayLike<number>,
  gradient: Float64Array,
  from: number,
  k: number,
  coef: number,
): number {
  let told = 0
  let taught = 0
  for (let i = from; i < from + k; i++) {
    if (Number.isNaN(teacher[i])) continue
    told += Math.exp(student[i] ?? 0)
    taught += Math.exp(teacher[i] ?? 0)
  }
  const rest = Math.max(least, 1 - told)
  const beyond = Math.log(rest) - Math.log(Math.max(least, 1 - taught))
  // At the bound the rest no longer moves with the student.
  const slope = 1 - told > least ? beyond : -1
  let kl = rest * beyond
  for (let i = from; i < from + k; i++) {
    const lq = teacher[i] ?? Number.NaN
    if (Number.isNaN(lq)) continue
    const lp = student[i] ?? 0
    const ratio = lp - lq
    kl += Math.exp(lp) * ratio
    gradient[i] = coef * Math.exp(lp) * (ratio - slope)
  }
  return kl
}
