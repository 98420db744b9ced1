// The folder of a job: what it was asked to do (config.json, lock.json), written before the first trial, and where it stands
// (result.json). A folder with another job's plan is refused.
import { randomUUID } from 'node:crypto'
import { mkdir, readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import * as z from 'zod'
import {
  canonicalJson,
  EvsysError,
  fileError,
  type Redact,
  sweepTemporary,
  systemCode,
  writeFileAtomic,
} from '../../kernel/index.ts'
import type { JobConfig } from './job-config.ts'
import { JobStats } from './job-stats.ts'
import type { JobTask } from './plan-trials.ts'

/** Where a job stands. */
export const JobResult = z.looseObject({
  id: z.string(),
  started_at: z.string(),
  updated_at: z.string(),
  finished_at: z.string().nullable(),
  n_total_trials: z.int(),
  stats: JobStats,
})
export type JobResult = z.infer<typeof JobResult>

const JobLock = z.looseObject({
  schema_version: z.literal(3),
  job_id: z.string(),
  created_at: z.string(),
  tasks: z.array(z.looseObject({ path: z.string(), digest: z.string().nullable() })),
})
type JobLock = z.infer<typeof JobLock>

export type JobFolder = Awaited<ReturnType<typeof openJobFolder>>

export async function openJobFolder(
  dir: string,
  { config, tasks, now, redact }: { config: JobConfig; tasks: readonly JobTask[]; now: string; redact: Redact },
) {
  await mkdir(dir, { recursive: true }).catch((cause: unknown) => {
    throw fileError('make', dir, cause)
  })
  const locked = tasks.map(({ path, task }) => ({ path, digest: task?.digest ?? null }))
  const written = comparable(redact(config))
  const known = await readLock(dir)
  if (known !== undefined) await refuseChange(dir, known, { written, locked })
  else if ((await readdir(dir)).some((name) => !name.startsWith('.evsys-') && name !== 'config.json'))
    throw occupied(dir)
  const lock: JobLock = known ?? { schema_version: 3, job_id: randomUUID(), created_at: now, tasks: locked }
  await sweepTemporary(dir)
  if (known === undefined) {
    await writeFileAtomic(join(dir, 'config.json'), `${JSON.stringify(redact(config), null, 2)}\n`)
    await writeFileAtomic(join(dir, 'lock.json'), `${JSON.stringify(lock, null, 2)}\n`) // last: it says that both are there
  }
  return {
    dir,
    jobId: lock.job_id,
    startedAt: lock.created_at,
    keep: (result: JobResult) =>
      writeFileAtomic(join(dir, 'result.json'), `${JSON.stringify(result, null, 2)}\n`, { sync: false }),
  }
}

// What changes no result may change: names and places of the job, how much runs at once.
function comparable(config: unknown): string {
  const {
    job_name: _name,
    jobs_dir: _dir,
    debug: _debug,
    quiet: _quiet,
    n_concurrent_trials: _concurrent,
    abort_after_failures: _abort,
    ...rest
  } = Object(JSON.parse(JSON.stringify(config))) as Record<string, unknown> // a config is an object
  return canonicalJson(rest)
}

async function refuseChange(
  dir: string,
  lock: JobLock,
  { written, locked }: { written: string; locked: JobLock['tasks'] },
): Promise<void> {
  const stored: unknown = JSON.parse(await readFile(join(dir, 'config.json'), 'utf8'))
  if (comparable(stored) !== written) {
    throw new EvsysError('CONFIG_CONFLICT', `${dir} holds a job with another configuration`, {
      fix: 'name another output folder, or run the job as its config.json has it.',
    })
  }
  const changed = locked.filter(
    ({ path, digest }, index) => lock.tasks[index]?.path !== path || lock.tasks[index]?.digest !== digest,
  )
  if (changed.length > 0 || locked.length !== lock.tasks.length) {
    const which = changed[0] === undefined ? 'tasks are gone' : `${changed[0].path} is not what it was`
    throw new EvsysError('CONFIG_CONFLICT', `the tasks of ${dir} have changed: ${which}`, {
      fix: 'name another output folder: scores of changed tasks do not compare.',
    })
  }
}

async function readLock(dir: string): Promise<JobLock | undefined> {
  const text = await readFile(join(dir, 'lock.json'), 'utf8').catch((cause: unknown) => {
    if (systemCode(cause) === 'ENOENT') return undefined
    throw fileError('read', join(dir, 'lock.json'), cause)
  })
  if (text === undefined) return undefined
  try {
    return JobLock.parse(JSON.parse(text))
  } catch (cause) {
    throw new EvsysError('CONFIG_CONFLICT', `${dir} holds a job that this version cannot continue`, {
      cause,
      fix: 'name another output folder.',
    })
  }
}

function occupied(dir: string): EvsysError {
  return new EvsysError('CONFIG_CONFLICT', `${dir} is not empty and holds no job`, {
    fix: 'name an empty or a new folder.',
  })
}
