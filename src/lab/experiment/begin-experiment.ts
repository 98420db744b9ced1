// The experiment in the record: a planned one is put there, or the one to resume is found; one controller at a time holds it and
// appends its events.
import { randomUUID } from 'node:crypto'
import { mkdir } from 'node:fs/promises'
import { hostname } from 'node:os'
import { dirname } from 'node:path'
import * as z from 'zod'
import type { ExperimentEvent, Leases, Plan } from '../../contracts/index.ts'
import {
  type Clock,
  createIds,
  EvsysError,
  fileError,
  identify,
  isAlive,
  systemCode,
  systemRandom,
} from '../../kernel/index.ts'
import { outputDirOf } from '../../record/index.ts'
import type { ExperimentRow, Lease, OpenStore } from '../../store/index.ts'

export async function beginExperiment(
  store: OpenStore,
  plan: Plan,
  options: { resume: boolean; projectDir: string; clock: Clock; provenance: Record<string, unknown> },
): Promise<{ experiment: ExperimentRow; outputDir: string; isResumed: boolean }> {
  const { resume, projectDir, clock, provenance } = options
  const unfinished = resume ? (await knownExperiments(store, plan)).find(isUnfinished) : undefined
  if (unfinished !== undefined) {
    return { experiment: unfinished, outputDir: outputDirOf(unfinished, projectDir), isResumed: true }
  }
  const ids = createIds({ clock, random: systemRandom })
  const experimentId = ids.next('exp')
  const at = await claimFolder(plan, projectDir, clock.now())
  const runIds = plan.runs.map(() => ids.next('run'))
  await store.createExperiment({ experimentId, at, plan, runIds, provenance })
  const experiment = await store.findExperiment(experimentId)
  return { experiment, outputDir: outputDirOf(experiment, projectDir), isResumed: false }
}

export function isUnfinished({ status }: Pick<ExperimentRow, 'status'>): boolean {
  return status === 'running' || status === 'pending' || status === 'stopped'
}

/** The newest experiment of the same configuration where none is left to resume: what `--resume` shows in place of doing it again. */
export async function finishedExperiment(
  store: Pick<OpenStore, 'experiments'>,
  plan: Plan,
): Promise<ExperimentRow | undefined> {
  const known = await knownExperiments(store, plan)
  return known.some(isUnfinished) ? undefined : known[0]
}

function knownExperiments(store: Pick<OpenStore, 'experiments'>, plan: Plan): Promise<ExperimentRow[]> {
  return store.experiments({ limit: 1000, configHash: plan.config_hash })
}

// Two that start in the same millisecond would share a folder: the one that makes it has it, the other takes the next.
async function claimFolder(plan: Plan, projectDir: string, nowMs: number): Promise<string> {
  for (let ms = nowMs; ; ms++) {
    const createdAt = new Date(ms).toISOString()
    const folder = outputDirOf({ createdAt, name: plan.experiment.name, plan }, projectDir)
    try {
      await makeFolders(dirname(folder))
      await mkdir(folder)
      return createdAt
    } catch (cause) {
      if (systemCode(cause) !== 'EEXIST') throw fileError('make', folder, cause)
    }
  }
}

// The recursive way of Node never returns where the system makes no folders, below /proc for one.
async function makeFolders(folder: string): Promise<void> {
  try {
    await mkdir(folder)
  } catch (cause) {
    const code = systemCode(cause)
    if (code === 'EEXIST') return // also where it is a file: what is made inside fails
    if (code !== 'ENOENT' || dirname(folder) === folder) throw cause
    await makeFolders(dirname(folder))
    await mkdir(folder).catch((again: unknown) => {
      if (systemCode(again) !== 'EEXIST') throw again
    })
  }
}

type Body<E> = E extends unknown ? Omit<E, 'seq' | 'at' | 'experiment_id'> : never

export async function appendEvents(
  {
    store,
    experiment,
    clock,
    lease,
  }: { store: OpenStore; experiment: ExperimentRow; clock: Clock; lease?: Lease | undefined },
  bodies: readonly Body<ExperimentEvent>[],
): Promise<void> {
  const stream = `experiment:${experiment.id}`
  const { nextEvent } = await store.cursor(stream)
  const base = { at: new Date(clock.now()).toISOString(), experiment_id: experiment.id }
  const events = bodies.map((body, i) => ({ seq: nextEvent + i, ...base, ...body }) as ExperimentEvent) // what Body leaves out is added
  await store.append(stream, nextEvent - 1, events, lease)
}

/** Records that an experiment is resumed; the time that its earlier executions took together, each up to the last thing it recorded. */
export async function recordResume(at: Parameters<typeof appendEvents>[0]): Promise<number> {
  const { store, experiment } = at
  const own = `experiment:${experiment.id}`
  const types = ['experiment.started', 'experiment.resumed'] as const
  const last = (await store.events({ stream: own, afterSeq: 0, limit: 1_000_000, types: [...types] })).at(-1)
  const known = last?.type === 'experiment.resumed' ? last.earlier_s : 0
  const ends = await Promise.all(
    [own, ...(await store.runs(experiment.id)).map(({ id }) => `run:${id}`)].map(async (stream) => {
      const { nextEvent } = await store.cursor(stream)
      const [newest] = await store.events({ stream, afterSeq: Math.max(0, nextEvent - 2), limit: 1 })
      return newest === undefined ? 0 : Date.parse(newest.at)
    }),
  )
  const began = last === undefined ? Number.POSITIVE_INFINITY : Date.parse(last.at)
  const earlier_s = known + Math.max(0, Math.max(...ends) - began) / 1000
  await appendEvents(at, [{ type: 'experiment.resumed', earlier_s }])
  return earlier_s
}

const LEASE_MS = 15_000

const Owner = z.object({ host: z.string(), pid: z.int(), start: z.string() })

export type HeldLease = Awaited<ReturnType<typeof holdLease>>

/**
 * Holds the lease until it is disposed of. It is renewed meanwhile; `lost` is aborted if another process gets it, because this one
 * slept too long. A holder of this machine that is known to be dead is not waited for.
 */
export async function holdLease(leases: Leases, name: string, lost: AbortController) {
  const self = { host: hostname(), ...identify() }
  const owner = JSON.stringify({ ...self, holding: randomUUID() }) // two in one process are two
  const note = `process ${self.pid} on ${self.host}`
  const lease = (await leases.acquire(name, owner, LEASE_MS, note)) ?? (await takeFromDead(leases, name, owner, note))
  if (lease === undefined) {
    const holder = await leases.holder(name)
    const message = `another evsys works on this experiment (${holder?.note ?? 'it just ended'})`
    throw new EvsysError('STORE_CONFLICT', message, { fix: 'wait until it has ended, or stop it; then run this again' })
  }
  const timer = setInterval(() => {
    leases.renew(lease, LEASE_MS).then(
      (isHeld) => {
        if (!isHeld) lost.abort(new EvsysError('STORE_CONFLICT', 'another process took over this experiment'))
      },
      () => {}, // a busy moment; the next renewal shows it
    )
  }, LEASE_MS / 5)
  return {
    lease,
    async [Symbol.asyncDispose]() {
      clearInterval(timer)
      await leases.release(lease).catch(() => {}) // it ends by itself, and this process is known to be gone
    },
  }
}

async function takeFromDead(leases: Leases, name: string, owner: string, note: string) {
  const held = await leases.holder(name)
  const parsed = held === undefined ? undefined : ownerOf(held.owner)
  if (held === undefined || parsed === undefined || parsed.host !== hostname() || isAlive(parsed)) return undefined
  return leases.takeOver(held, owner, LEASE_MS, note)
}

function ownerOf(text: string): z.infer<typeof Owner> | undefined {
  try {
    return Owner.safeParse(JSON.parse(text)).data
  } catch {
    return undefined
  }
}
