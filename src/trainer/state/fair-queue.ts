// Work for the one engine: first come, first served within a lane (a model, a sampler); the lanes of a tenant in turn, and tenants in
// turn. A client with a hundred requests delays a client with one by a single request, and a tenant with a hundred models another
// tenant as little. Requests for samples whose turns follow each other are with the engine at once, which may draw them together.

/** Jobs that are with the engine at once. */
const mostAtOnce = 64
/** Of one tenant beside others: where it holds the engine with long answers, a short one of another still begins at once. */
const mostOfTenant = 48

/** Of other tenants, before work that waits for the samples of its own tenant. */
const mostPassing = 16

/** Whose work it is, and what it must follow. */
export type Place = {
  /** Undefined: the owner of the trainer. */
  readonly tenant: string | undefined
  readonly lane: string
}

/** A piece of work in the queue. */
export type Job = Place & {
  readonly work: () => Promise<void>
  /** Changes nothing, so that others of its kind may run beside it. */
  readonly shared: boolean
}

type Lanes = Map<string, Job[]>

export class FairQueue {
  /** Tenants and their lanes, both in the order of their turns. */
  readonly #tenants = new Map<string | undefined, Lanes>()
  readonly #running = new Set<Job>()
  /** How many jobs have gone before one that waits for the engine. */
  readonly #passed = new WeakMap<Job, number>()
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
    for (let next = this.#next(); next !== undefined; next = this.#next()) {
      const job = next === 'full' || this.#mayStart(next) ? next : this.#passing(next)
      if (job === 'full' || job === undefined) {
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

  #mayStart({ shared }: Job): boolean {
    if (this.#running.size === 0) return true
    return shared && this.#running.size < mostAtOnce && [...this.#running].every((each) => each.shared)
  }

  // Work that changes something waits until the engine is free. Where a tenant's own samples keep it busy, others are not to wait for
  // that as well: some of theirs go first.
  #passing(waiting: Job): Job | undefined {
    const passed = this.#passed.get(waiting) ?? 0
    if (waiting.shared || passed >= mostPassing || this.#running.size >= mostAtOnce) return undefined
    const own = [...this.#running].filter(({ tenant }) => tenant === waiting.tenant).length
    if (2 * own <= this.#running.size) return undefined
    for (const [tenant, lanes] of this.#tenants) {
      if (tenant === waiting.tenant || this.#holdsItsShare(tenant)) continue
      for (const [job] of lanes.values()) {
        if (job?.shared !== true) continue
        this.#passed.set(waiting, passed + 1)
        return job
      }
    }
    return undefined
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
        else if (!this.#holdsItsShare(tenant)) return job
        else isFull = true
      }
      if (lanes.size === 0) this.#tenants.delete(tenant)
    }
    return isFull ? 'full' : undefined
  }

  #holdsItsShare(tenant: string | undefined): boolean {
    if (tenant === undefined || this.#running.size < mostOfTenant) return false
    return [...this.#running].filter((job) => job.tenant === tenant).length >= mostOfTenant
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
