// Which question of a benchmark a text is, or nearly is. Near: the text holds most of the parts that set this question apart from
// the others. Parts that many questions share are the wording of the benchmark, not of one question, and do not count; a
// question with hardly any unique part is compared as a whole.
import type { SealedTask } from '../../contracts/index.ts'
import { normalText, shinglesOf } from '../near/near-index.ts'

/** Share of a question's own parts that a text holds when it counts as nearly the same. */
const nearShare = 0.8
/** Fewer parts than this say too little: two short questions differ in one word. */
const fewestParts = 16
/** A part in more than this share of the questions belongs to their wording. */
const commonShare = 0.05
/** Questions that may share a part that still counts, whatever the size of the benchmark. */
const fewestSharing = 2
const mostSharing = 50

export interface LeakMatch {
  readonly task_id: string
  /** Equal apart from case, punctuation and spacing; or near, by the share of the question that was found. */
  readonly kind: 'exact' | 'near'
  readonly share: number
}

export interface LeakIndex {
  /** The question that a text repeats, the closest one first; undefined where there is none. */
  find(text: string): LeakMatch | undefined
}

/** `template` wraps a question before a model sees it: a training text may hold either form. */
export function createLeakIndex(
  tasks: readonly SealedTask[],
  { template }: { template?: string | undefined } = {},
): LeakIndex {
  const exact = new Map<string, number>()
  const texts = tasks.map(({ instruction }) => normalText(instruction))
  for (const [task, text] of texts.entries()) {
    const wrapped = template?.replaceAll('{prompt}', () => tasks[task]?.instruction ?? '')
    for (const form of [text, normalText(wrapped ?? '')]) if (form !== '' && !exact.has(form)) exact.set(form, task)
  }
  const { tasksOf, ownParts } = ownPartsOf(texts)

  return {
    find(text) {
      const normal = normalText(text)
      if (normal === '') return undefined
      const same = exact.get(normal)
      if (same !== undefined) return { task_id: tasks[same]?.task_id ?? '', kind: 'exact', share: 1 }
      const hits = new Map<number, number>()
      for (const part of shinglesOf(normal)) {
        for (const task of tasksOf.get(part) ?? []) hits.set(task, (hits.get(task) ?? 0) + 1)
      }
      let best: { task: number; share: number } | undefined
      for (const [task, count] of hits) {
        const share = count / (ownParts[task] ?? Number.POSITIVE_INFINITY)
        if (share >= nearShare && (best === undefined || share > best.share)) best = { task, share }
      }
      return best === undefined
        ? undefined
        : { task_id: tasks[best.task]?.task_id ?? '', kind: 'near', share: best.share }
    },
  }
}

// Part -> the questions that have it, without the parts that are common; and how many parts count for each question.
function ownPartsOf(texts: readonly string[]): { tasksOf: Map<number, number[]>; ownParts: number[] } {
  const distinct = new Map<string, number>() // equal questions are one: they must not make their own parts common
  for (const [task, text] of texts.entries()) if (text !== '' && !distinct.has(text)) distinct.set(text, task)
  const most = Math.min(mostSharing, Math.max(fewestSharing, Math.floor(distinct.size * commonShare)))
  const tasksOf = new Map<number, number[]>()
  for (const [text, task] of distinct) {
    for (const part of shinglesOf(text)) {
      const sharing = tasksOf.get(part)
      if (sharing === undefined) tasksOf.set(part, [task])
      else if (sharing.length <= most) sharing.push(task)
    }
  }
  const ownParts: number[] = []
  for (const [part, sharing] of tasksOf) {
    if (sharing.length > most) tasksOf.delete(part)
    else for (const task of sharing) ownParts[task] = (ownParts[task] ?? 0) + 1
  }
  for (const [part, sharing] of tasksOf) {
    const long = sharing.filter((task) => (ownParts[task] ?? 0) >= fewestParts)
    if (long.length === 0) tasksOf.delete(part)
    else tasksOf.set(part, long)
  }
  return { tasksOf, ownParts }
}
