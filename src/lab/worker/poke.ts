// Tells the controller that the segment has grown: at once, then not again for a moment however much is written.

export interface Poke {
  written(nextItem: number): void
  /** Tells the last of it. */
  close(): void
}

const pauseMs = 50

export function createPoke(tell: (nextItem: number) => void): Poke {
  let next = 0
  let told = 0
  let pause: NodeJS.Timeout | undefined
  const flush = () => {
    pause = undefined
    if (next === told) return
    told = next
    tell(next)
    pause = setTimeout(flush, pauseMs)
  }
  return {
    written(nextItem) {
      next = Math.max(next, nextItem)
      if (pause === undefined) flush()
    },
    close() {
      clearTimeout(pause)
      flush()
      clearTimeout(pause)
      pause = undefined
    },
  }
}
