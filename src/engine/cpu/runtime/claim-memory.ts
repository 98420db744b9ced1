/** Not worth to start with less. */
const leastBytes = 2 ** 28

/**
 * Claims memory for an arena, or less of it where so much cannot be had: what a process may claim is bounded by more than can
 * be asked for. The error is that of the first try.
 */
export function claimMemory<T>(bytes: number, claim: (bytes: number) => T): { claimed: T; bytes: number } {
  try {
    return { claimed: claim(bytes), bytes }
  } catch (error) {
    for (let less = shrink(bytes); less >= leastBytes; less = shrink(less)) {
      try {
        return { claimed: claim(less), bytes: less }
      } catch {} // the first error is the one to tell
    }
    throw error
  }
}

// In whole pages of WebAssembly, of which those of machines are parts.
function shrink(bytes: number): number {
  return Math.floor((bytes * 0.75) / 65536) * 65536
}
