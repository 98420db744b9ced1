// So many things at a time, over everything that is drawn for a run: rollouts of a later step must not slow those of an earlier one.

export interface Lanes {
  readonly limit: number
  /** Runs `work` when there is room; of those that wait, the lowest `order` first. */
  run<T>(order: number, work: () => Promise<T>): Promise<T>
}

export function createLanes(limit: number): Lanes {
  let free = limit
  const waiting: { order: number; start: () => void }[] = []
  const leave = () => {
    let next = 0
    for (const [i, { order }] of waiting.entries()) if (order < (waiting[next]?.order ?? 0)) next = i
    const [first] = waiting.splice(next, 1)
    if (first === undefined) free += 1
    else first.start()
  }
  return {
    limit,
    async run(order, work) {
      if (free > 0) free -= 1
      else await new Promise<void>((start) => waiting.push({ order, start }))
      try {
        return await work()
      } finally {
        leave()
      }
    },
  }
}
