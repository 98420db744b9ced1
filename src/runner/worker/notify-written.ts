// Notifies the controller that the segment has grown: at once, then not again for a moment however much is written.

export interface WrittenNotices {
  written(nextItem: number): void
  /** Sends the last of it. */
  close(): void
}

const pauseMs = 50

export function notifyWritten(send: (nextItem: number) => void): WrittenNotices {
  let next = 0
  let sent = 0
  let pause: NodeJS.Timeout | undefined
  const flush = () => {
    pause = undefined
    if (next === sent) return
    sent = next
    send(next)
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
