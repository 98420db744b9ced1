// Typed arrays with the same bytes are equal at once: element by element, as the matchers look at them, a model takes seconds.
import { expect } from 'vitest'

expect.addEqualityTesters([
  function equalBytes(one: unknown, other: unknown): boolean | undefined {
    if (!(ArrayBuffer.isView(one) && ArrayBuffer.isView(other))) return undefined
    if (one.constructor !== other.constructor || one.byteLength !== other.byteLength) return undefined
    return bytesOf(one).equals(bytesOf(other)) ? true : undefined // what differs is for the matcher to tell
  },
])

const bytesOf = ({ buffer, byteOffset, byteLength }: ArrayBufferView) => Buffer.from(buffer, byteOffset, byteLength)
