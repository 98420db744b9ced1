// What holds for one candidate of a task: the fields of its variant over those of the file.

import type { LoadedTask } from '../../config/index.ts'
import type { TaskFile, TaskRuntime } from '../../contracts/index.ts'
import { EvsysError, suggest } from '../../kernel/index.ts'

/** Fields of a task for one of its candidates. */
export type CandidateFields = Omit<TaskFile, 'variants' | 'api'> & {
  readonly variant?: string
  readonly api: readonly string[]
  readonly runtime: TaskRuntime
  /** Where a field was written. */
  readonly pathOf: (field: string) => readonly string[]
}

/** The candidate of the file itself, or of a variant. */
export function resolveVariant({ task, locate }: LoadedTask, variant?: string): CandidateFields {
  const { variants = {}, ...fields } = task
  const chosen = variant === undefined ? undefined : variants[variant]
  if (variant !== undefined && chosen === undefined) {
    const names = Object.keys(variants)
    throw new EvsysError('CONFIG_INVALID', `the task ${task.name} has no variant "${variant}"`, {
      where: locate(['variants']),
      fix: names.length === 0 ? `write \`${task.name}\` alone.` : suggest(variant, names),
    })
  }
  // A prompt of the variant replaces the other form of it, too.
  const { prompt, prompt_file, ...others } = fields
  const words = chosen?.prompt === undefined && chosen?.prompt_file === undefined ? { prompt, prompt_file } : {}
  const merged = { ...others, ...defined(words), ...defined(chosen ?? {}) }
  const { api } = merged
  return {
    ...merged,
    ...(variant === undefined ? {} : { variant }),
    api: api === undefined ? [] : typeof api === 'string' ? [api] : api,
    runtime: merged.runtime ?? runtimeOf(merged.run),
    pathOf: (field) => (chosen !== undefined && field in chosen ? ['variants', variant ?? '', field] : [field]),
  }
}

function runtimeOf(run: string): TaskRuntime {
  const [first = ''] = run.trim().split(/\s+/)
  if (first === 'node') return 'node'
  return /^python(?:3(?:\.\d+)?)?$/.test(first) ? 'python' : 'command'
}

function defined<T extends object>(value: T): { [K in keyof T]?: Exclude<T[K], undefined> } {
  // Keys that hold undefined are the ones left out.
  return Object.fromEntries(Object.entries(value).filter(([, each]) => each !== undefined)) as {
    [K in keyof T]?: Exclude<T[K], undefined>
  }
}
