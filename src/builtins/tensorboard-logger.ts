import { appendFile, mkdir } from 'node:fs/promises'
import { hostname } from 'node:os'
import { join } from 'node:path'
import * as z from 'zod'
import type { Metrics } from '../contracts/index.ts'
import { defineCallback } from '../kernel/index.ts'

export const tensorboardLogger = defineCallback({
  kind: 'tensorboard_logger',
  summary: 'Writes scalars as TensorBoard event files, one folder per run.',
  params: z.strictObject({
    log_dir: z.string().min(1).optional().describe('Folder of the runs; absent: tb/ beside the run’s logs.'),
    flush_secs: z.number().positive().default(30).describe('Longest that a value waits before it is written.'),
  }),
  async open({ params }) {
    let file: string | undefined
    let waiting: Uint8Array[] = []
    let written = Date.now()
    let from = 0
    let files = 0
    const flush = async () => {
      if (file === undefined || waiting.length === 0) return
      const bytes = Buffer.concat(waiting)
      waiting = []
      written = Date.now()
      await appendFile(file, bytes)
    }
    const add = async (step: number, prefix: string, metrics: Metrics) => {
      if (step < from) return // an earlier file has it
      for (const [key, value] of Object.entries(metrics)) {
        waiting.push(scalarEvent({ atS: Date.now() / 1000, step, tag: `${prefix}${key}`, value }))
      }
      if (Date.now() - written >= params.flush_secs * 1000) await flush()
    }
    return {
      async onTrainStart(scope) {
        const run = scope.run?.name ?? 'run'
        const dir =
          params.log_dir === undefined ? join(scope.run?.dir ?? scope.outputDir, 'tb') : join(params.log_dir, run)
        await mkdir(dir, { recursive: true })
        await flush()
        const atS = Date.now() / 1000
        from = scope.step
        files += 1
        file = join(dir, `events.out.tfevents.${Math.floor(atS)}.${hostname()}.${process.pid}.${files}`)
        waiting.push(versionEvent(atS), ...(from > 0 ? [startEvent(atS, from)] : []))
        await flush()
      },
      onStepEnd: ({ step }, metrics) => add(step, '', metrics),
      onEval: ({ step }, benchmark, split, metrics) => add(step, `${split}/${benchmark}/`, metrics),
      async [Symbol.asyncDispose]() {
        await flush()
      },
    }
  },
})

// TensorBoard's event file format: framed records of protobuf messages. A record is its length, a masked CRC32C of the length,
// the payload, a masked CRC32C of the payload; numbers are little-endian.

/** The first record of a file. */
export function versionEvent(atS: number): Uint8Array {
  return framed(Buffer.concat([double(1, atS), text(3, 'brain.Event:2')]))
}

/** A new start at a step: readers drop what earlier files hold from there on. Event { step = 2, session_log = 7 { status = 1 } }. */
export function startEvent(atS: number, step: number): Uint8Array {
  const start = varintField(1, 1)
  return framed(Buffer.concat([double(1, atS), varintField(2, step), bytes(7, start)]))
}

/** One scalar: Event { wall_time = 1, step = 2, summary = 5 { value = 1 { tag = 1, simple_value = 2 } } }. */
export function scalarEvent(event: { atS: number; step: number; tag: string; value: number }): Uint8Array {
  const { atS, step, tag, value } = event
  const scalar = Buffer.concat([text(1, tag), float(2, value)])
  return framed(Buffer.concat([double(1, atS), varintField(2, step), bytes(5, bytes(1, scalar))]))
}

function framed(payload: Buffer): Uint8Array {
  const length = Buffer.alloc(8)
  length.writeBigUInt64LE(BigInt(payload.length))
  return Buffer.concat([length, checksum(length), payload, checksum(payload)])
}

function checksum(data: Buffer): Buffer {
  const crc = crc32c(data)
  const masked = (((crc >>> 15) | (crc << 17)) + 0xa282ead8) >>> 0
  const out = Buffer.alloc(4)
  out.writeUInt32LE(masked)
  return out
}

const TABLE = Uint32Array.from({ length: 256 }, (_, n) => {
  let c = n
  for (let k = 0; k < 8; k++) c = c & 1 ? (c >>> 1) ^ 0x82f63b78 : c >>> 1 // Castagnoli, reflected
  return c >>> 0
})

/** CRC32C (RFC 3720). */
export function crc32c(data: Uint8Array): number {
  let crc = 0xffffffff
  for (const byte of data) crc = (TABLE[(crc ^ byte) & 0xff] ?? 0) ^ (crc >>> 8)
  return (crc ^ 0xffffffff) >>> 0
}

function varint(value: number): Buffer {
  const out: number[] = []
  let rest = BigInt(value)
  while (rest > 127n) {
    out.push(Number(rest & 127n) | 128)
    rest >>= 7n
  }
  return Buffer.from([...out, Number(rest)])
}

function varintField(field: number, value: number): Buffer {
  return Buffer.concat([varint(field << 3), varint(value)])
}

function double(field: number, value: number): Buffer {
  const out = Buffer.alloc(8)
  out.writeDoubleLE(value)
  return Buffer.concat([varint((field << 3) | 1), out])
}

function float(field: number, value: number): Buffer {
  const out = Buffer.alloc(4)
  out.writeFloatLE(value)
  return Buffer.concat([varint((field << 3) | 5), out])
}

function bytes(field: number, value: Uint8Array): Buffer {
  return Buffer.concat([varint((field << 3) | 2), varint(value.length), value])
}

function text(field: number, value: string): Buffer {
  return bytes(field, Buffer.from(value, 'utf8'))
}
