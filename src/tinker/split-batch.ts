// A batch in parts that the service takes: in order, each as large as it may be.
import type { Datum } from '../contracts/index.ts'

export type SplitLimits = { maxDatums: number; maxBytes: number }

/** Bytes of a datum on the wire, estimated as the service's limits mean it. */
function datumBytes({ tokens, lossInputs }: Datum): number {
  let size = 4 * tokens.length
  for (const [name, { data }] of Object.entries(lossInputs)) {
    size += data.length * (data instanceof Int32Array || name === 'target_tokens' ? 8 : 4)
  }
  return size
}

export type Part = { readonly data: readonly Datum[]; readonly sizeBytes: number }

/** A datum that is too large by itself still goes, alone. */
export function splitBatch(data: readonly Datum[], { maxDatums, maxBytes }: SplitLimits): Part[] {
  const parts: { data: Datum[]; sizeBytes: number }[] = []
  for (const datum of data) {
    const sizeBytes = datumBytes(datum)
    const last = parts.at(-1)
    if (last === undefined || last.data.length >= maxDatums || last.sizeBytes + sizeBytes > maxBytes) {
      parts.push({ data: [datum], sizeBytes })
    } else {
      last.data.push(datum)
      last.sizeBytes += sizeBytes
    }
  }
  return parts
}
