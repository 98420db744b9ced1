import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { pluginContext } from '../../tests/plugin-context.ts'
import { temporaryFolders } from '../../tests/temporary-folder.ts'
import { watchedRun, watchSteps } from '../../tests/watched-run.ts'
import { crc32c, scalarEvent, startEvent, tensorboardLogger, versionEvent } from './tensorboard-logger.ts'

const folder = temporaryFolders()

/** Number of records in each file of a folder. */
function recordsIn(dir: string): number[] {
  return readdirSync(dir)
    .sort()
    .map((name) => {
      expect(name).toMatch(/^events\.out\.tfevents\.\d+\./)
      const bytes = readFileSync(join(dir, name))
      let count = 0
      for (let at = 0; at < bytes.length; count++) at += 16 + Number(bytes.readBigUInt64LE(at))
      return count
    })
}

describe('tensorboard_logger', () => {
  it('writes a file per start of training: metrics, scores, and from which step on it counts (LAB-47)', async () => {
    const run = watchedRun(folder())
    const hooks = await tensorboardLogger.open(pluginContext(tensorboardLogger))
    await hooks.onTrainStart?.(run.at(0))
    await watchSteps(hooks, run, 0, 3)
    await hooks.onEval?.(run.at(2), 'val', 'val', { 'pass@1': 0.5 })
    await hooks.onTrainStart?.(run.at(2)) // a roll-back
    await hooks.onEval?.(run.at(1), 'val', 'val', { 'pass@1': 0.4 }) // told again: the first file has it
    await watchSteps(hooks, run, 2, 3)
    await hooks[Symbol.asyncDispose]?.()
    expect(recordsIn(join(run.dir, 'tb'))).toEqual([1 + 3 * 2 + 1, 2 + 2])
  })

  it('writes below the folder that it is given, one folder per run (LAB-47)', async () => {
    const [dir, run] = [folder(), watchedRun(folder())]
    const hooks = await tensorboardLogger.open(pluginContext(tensorboardLogger, { log_dir: dir }))
    await hooks.onTrainStart?.(run.at(0))
    await hooks[Symbol.asyncDispose]?.()
    expect(recordsIn(join(dir, run.scope.run?.name ?? ''))).toEqual([1])
  })
})

const bytesOf = (text: string) => new TextEncoder().encode(text)
const hex = (bytes: Uint8Array) => Buffer.from(bytes).toString('hex')

/** Payload of the one record, its frame checked as a reader checks it. */
function payloadOf(record: Uint8Array): Buffer {
  const whole = Buffer.from(record)
  const length = Number(whole.readBigUInt64LE(0))
  expect(whole.length).toBe(8 + 4 + length + 4)
  const unmask = (masked: number) => {
    const rotated = (masked - 0xa282ead8) >>> 0
    return ((rotated >>> 17) | (rotated << 15)) >>> 0
  }
  expect(unmask(whole.readUInt32LE(8))).toBe(crc32c(whole.subarray(0, 8)))
  expect(unmask(whole.readUInt32LE(12 + length))).toBe(crc32c(whole.subarray(12, 12 + length)))
  return whole.subarray(12, 12 + length)
}

describe('an event of TensorBoard', () => {
  it('has checksums as RFC 3720 gives them (LAB-47)', () => {
    expect(crc32c(bytesOf('123456789'))).toBe(0xe3069283)
    expect(crc32c(new Uint8Array(32))).toBe(0x8a9136aa)
    expect(crc32c(new Uint8Array(32).fill(0xff))).toBe(0x62a8ab43)
    expect(crc32c(Uint8Array.from({ length: 32 }, (_, i) => i))).toBe(0x46dd794e)
  })

  it('is framed and holds its fields, byte by byte (LAB-47)', () => {
    expect(hex(payloadOf(versionEvent(1)))).toBe(`09000000000000f03f1a0d${hex(bytesOf('brain.Event:2'))}`)
    // wall_time 1.0, step 300 as a varint, summary { value { tag "loss", simple_value 0.5 } }
    expect(hex(payloadOf(scalarEvent({ atS: 1, step: 300, tag: 'loss', value: 0.5 })))).toBe(
      '09000000000000f03f10ac022a0d0a0b0a046c6f7373150000003f',
    )
    expect(hex(payloadOf(startEvent(1, 3)))).toBe('09000000000000f03f10033a020801')
  })

  it('takes names of any length and letters, and steps beyond 32 bits (LAB-47)', () => {
    const payload = payloadOf(scalarEvent({ atS: 0, step: 2 ** 40, tag: 'ü'.repeat(200), value: -1 }))
    expect(payload.includes(Buffer.from('ü'.repeat(200)))).toBe(true)
    expect(hex(payload.subarray(9, 16))).toBe('10808080808020')
  })
})
