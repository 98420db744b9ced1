// Scores by the values of a field of the tasks' metadata: `pass@1[topic=algebra]`.
import type { HarborTask } from '../../contracts/index.ts'
import { canonicalJson } from '../../kernel/index.ts'

export interface TaskGroup {
  /** `topic=algebra`. */
  readonly label: string
  /** Positions of its tasks. */
  readonly members: readonly number[]
}

/** A field with more values than this is an id, not a kind: those beyond it are scored together. */
const mostValues = 100
const longestValue = 60

/** The groups of tasks that each key makes, the largest first. A task without the field is under `__missing__`. */
export function breakDown(tasks: readonly HarborTask[], keys: readonly string[]): TaskGroup[] {
  return keys.flatMap((key) => {
    const groups = new Map<string, number[]>()
    for (const [i, task] of tasks.entries()) {
      const value = valueAt(task.metadata, key)
      const members = groups.get(value) ?? []
      members.push(i)
      groups.set(value, members)
    }
    const sorted = [...groups].sort(([, a], [, b]) => b.length - a.length)
    const rest = sorted.slice(mostValues).flatMap(([, members]) => members)
    const kept = sorted.slice(0, mostValues).map(([value, members]) => ({ label: `${key}=${value}`, members }))
    return rest.length === 0 ? kept : [...kept, { label: `${key}=__other__`, members: rest }]
  })
}

function valueAt(metadata: unknown, key: string): string {
  let value: unknown = metadata
  for (const part of key.split('.')) {
    const isHolder = typeof value === 'object' && value !== null && Object.hasOwn(value, part)
    value = isHolder ? Reflect.get(Object(value), part) : undefined
  }
  if (value === undefined || value === null) return '__missing__'
  const text = typeof value === 'object' ? canonicalJson(value) : String(value)
  return text.length <= longestValue ? text : `${text.slice(0, longestValue)}…`
}
