// Notices when nothing is heard for too long. A controller that was itself asleep or busy first takes in what has arrived in
// the meantime, and only then judges.

export interface SilenceTimer {
  /** Begins to listen. The first sign may take `firstMs`: a process has to start. */
  start(firstMs?: number): void
  heard(): void
  stop(): void
}

export function createSilenceTimer(silenceMs: number, onSilence: () => void): SilenceTimer {
  let timer: NodeJS.Timeout | undefined
  let isFirst = false
  let signs = 0
  const look = () => {
    const before = signs
    // Timers come before input in a turn of the event loop, and immediates after it.
    setImmediate(() => {
      if (timer !== undefined && signs === before) onSilence()
    })
  }
  const listen = (ms: number) => {
    clearTimeout(timer)
    timer = setTimeout(look, ms)
  }
  return {
    start(firstMs = silenceMs) {
      isFirst = firstMs !== silenceMs
      listen(firstMs)
    },
    heard() {
      signs += 1
      if (timer === undefined) return
      if (isFirst) listen(silenceMs)
      else timer.refresh()
      isFirst = false
    },
    stop() {
      clearTimeout(timer)
      timer = undefined
    },
  }
}
