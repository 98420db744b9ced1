// Work for the one engine: first come, first served within a lane (a model, a sampler); the lanes of a tenant in turn, and tenants in
// turn. A client with a hundred requests delays a client with one by a single request, and a tenant with a hundred models another
// tenant as little. Requests for samples are with the engine at once, which may draw them together, and beside them one piece of other
// work: the engine divides its time between the two.

/** Jobs that are with the engine at once. */
const mostAtOnce = 64
/** Of one tenant beside others: where it holds the engine with long answers, a short one of another still begins at once. */
const mostOfTenant = 48

/** Whose work it is, and what it must follow. */
export type Place = {
  /** Undefined: the owner of the trainer. */
  readonly tenant: string | undefined
  readonly lane: string
}

/** A piece of work in the queue. */
export type Job = Place & {
  readonly work: () => Promise<void>
  /** Others of its kind may run beside it. */
  readonly shared: boolean
}

type Lanes = Map<string, Job[]>

export class FairQueue {
  /** Tenants and their lanes, both in the order of their turns. */
  readonly #tenants = new Map<string | undefined, Lanes>()
  readonly #running = new Set<Job>()
  #isPumping = false
  /** Has the queue examined again: something came, or ended. */
  #wake = () => {}

  /** Queues work that handles its own failure. */
  add({ tenant, lane }: Place, work: () => Promise<void>, { shared = false } = {}): Job {
    const job = { tenant, lane, work, shared }
    const lanes: Lanes = this.#tenants.get(tenant) ?? new Map()
    this.#tenants.set(tenant, lanes)
    const queued = lanes.get(lane)
    if (queued === undefined) lanes.set(lane, [job])
    else queued.push(job)
    this.#wake()
    void this.#pump()
    return job
  }

  /** How many jobs come before this one; 0 while it runs, undefined when it has ended. */
  ahead(job: Job): number | undefined {
    if (this.#running.has(job)) return 0
    const lanes = this.#tenants.get(job.tenant)
    const depth = lanes?.get(job.lane)?.indexOf(job) ?? -1
    if (lanes === undefined || depth === -1) return undefined
    let place = 0
    for (const [lane, jobs] of lanes) place += lane === job.lane ? depth : Math.min(jobs.length, depth + 1)
    let count = this.#running.size
    for (const [tenant, others] of this.#tenants) {
      count += tenant === job.tenant ? place : Math.min(sizeOf(others), place + 1)
    }
    return count
  }

  /** How many jobs of a tenant have not ended. */
  countOf(tenant: string | undefined): number {
    const running = [...this.#running].filter((job) => job.tenant === tenant).length
    return running + sizeOf(this.#tenants.get(tenant) ?? new Map())
  }

  /** Takes back a job that has not begun; false when it has. */
  remove(job: Job): boolean {
    const jobs = this.#tenants.get(job.tenant)?.get(job.lane)
    const at = jobs?.indexOf(job) ?? -1
    if (jobs === undefined || at === -1) return false
    jobs.splice(at, 1)
    return true
  }

  async #pump(): Promise<void> {
    if (this.#isPumping) return
    this.#isPumping = true
    for (let job = this.#next(); job !== undefined; job = this.#next()) {
      if (job === 'full') {
        await new Promise<void>((resolve) => {
          this.#wake = resolve
        })
        continue
      }
      this.#tenants.get(job.tenant)?.get(job.lane)?.shift()
      const ended = this.#start(job)
      if (!job.shared) await ended
      this.#endTurn(job)
    }
    this.#isPumping = false
  }

  #start(job: Job): Promise<void> {
    this.#running.add(job)
    return job.work().then(() => {
      this.#running.delete(job)
      this.#wake()
    })
  }

  /** The job whose turn it is; `full` where every tenant that waits holds as much of the engine as it may. */
  #next(): Job | 'full' | undefined {
    let isFull = false
    for (const [tenant, lanes] of this.#tenants) {
      for (const [lane, [job]] of lanes) {
        if (job === undefined) lanes.delete(lane)
        else if (!job.shared || this.#hasRoomFor(tenant)) return job
        else isFull = true
      }
      if (lanes.size === 0) this.#tenants.delete(tenant)
    }
    return isFull ? 'full' : undefined
  }

  #hasRoomFor(tenant: string | undefined): boolean {
    const { size } = this.#running
    if (tenant === undefined || size < mostOfTenant) return size < mostAtOnce
    return size < mostAtOnce && [...this.#running].filter((job) => job.tenant === tenant).length < mostOfTenant
  }

  // Lanes and tenants that were added meanwhile come before it now.
  #endTurn({ tenant, lane }: Job): void {
    const lanes = this.#tenants.get(tenant)
    if (lanes === undefined) return
    toEnd(lanes, lane, (lanes.get(lane) ?? []).length > 0)
    toEnd(this.#tenants, tenant, lanes.size > 0)
  }
}

function toEnd<K, V>(map: Map<K, V>, key: K, isKept: boolean): void {
  const value = map.get(key)
  map.delete(key)
  if (value !== undefined && isKept) map.set(key, value)
}

function sizeOf(lanes: Lanes): number {
  return [...lanes.values()].reduce((sum, { length }) => sum + length, 0)
}
