// How fast a segment grows. A run that reports without end would fill the disk before anybody reads it.
import { stat } from 'node:fs/promises'
import { createRateBound } from '../../kernel/index.ts'

const bytesPerMb = 1024 * 1024
/** A bucket that was emptied is full again after this long. */
const refillS = 60

/** Returns what looks at the segment; more than `burstMb` at once, or in the long run as much every minute, is a flood. */
export function watchGrowth(file: string, burstMb: number, onFlood: () => void): () => void {
  const burst = burstMb * bytesPerMb
  const bound = createRateBound({ burst, perSecond: burst / refillS })
  let known = 0
  return () => {
    stat(file).then(
      ({ size }) => {
        const grown = Math.max(0, size - known)
        known = size
        if (!bound.take(grown)) onFlood()
      },
      () => {}, // not there yet
    )
  }
}
