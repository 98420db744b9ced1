// Notices when nothing is heard for too long. A controller that was itself asleep or busy first takes in what has arrived in
// the meantime, and only then judges.

export interface SilenceTimer {
  start(): void
  heard(): void
  stop(): void
}

export function createSilenceTimer(silenceMs: number, onSilence: () => void): SilenceTimer {
  let timer: NodeJS.Timeout | undefined
  let signs = 0
  const look = () => {
    const before = signs
    // Timers come before input in a turn of the event loop, and immediates after it.
    setImmediate(() => {
      if (timer === undefined) return
      if (signs === before) onSilence()
      else timer.refresh()
    })
  }
  return {
    start() {
      clearTimeout(timer)
      timer = setTimeout(look, silenceMs)
    },
    heard() {
      signs += 1
      timer?.refresh()
    },
    stop() {
      clearTimeout(timer)
      timer = undefined
    },
  }
}
