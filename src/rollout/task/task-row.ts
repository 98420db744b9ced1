// A task folder as a row, for everything that takes rows: benchmarks, training, records.
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import * as z from 'zod'
import type { HarborTask } from '../../contracts/index.ts'
import type { LoadedTask } from './loaded-task.ts'

/**
 * The row of a task folder; of a task of several steps its instruction is those of its steps. The tests stay in the folder: what
 * an agent is handed must not hold them.
 */
export async function taskRow(task: LoadedTask): Promise<HarborTask> {
  const instruction =
    task.steps.length === 0
      ? task.instruction
      : task.steps.map((step) => `## ${step.name}\n\n${step.instruction.trim()}`).join('\n\n')
  const image = task.config.environment.docker_image
  const dockerfile =
    image === undefined
      ? await readFile(join(task.environmentDir, 'Dockerfile'), 'utf8').catch(() => '')
      : `FROM ${image}\n`
  return {
    task_id: task.name,
    instruction,
    verifier: { kind: 'e2b', dockerfile, test_sh: 'exec /tests/test.sh' },
    metadata: { ...task.config.metadata, task_digest: task.digest, task_path: task.path },
  }
}

const InFolder = z.looseObject({ task_path: z.string().min(1), task_digest: z.string().min(1) })

/** The folder that a row was made of, and its digest then; undefined: the row is the whole task. */
export function folderOfRow({ verifier, metadata }: HarborTask): { path: string; digest: string } | undefined {
  const { data } = InFolder.safeParse(metadata)
  if (verifier.kind !== 'e2b' || data === undefined) return undefined
  return { path: data.task_path, digest: data.task_digest }
}
