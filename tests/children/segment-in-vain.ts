// Fills a small disk with a segment: `segment-in-vain DIR`. Prints the errors and how much was acknowledged and can be read.
import { join } from 'node:path'
import type { Item } from '../../src/contracts/index.ts'
import { EvsysError } from '../../src/kernel/index.ts'
import { readSegment } from '../../src/lab/workers/segment-reader.ts'
import { openSegmentWriter } from '../../src/runner/worker/segment-writer.ts'

const [dir = ''] = process.argv.slice(2)
const file = join(dir, 'segments', '1.jsonl')
const writer = await openSegmentWriter(file)
const item = (seq: number): Item => ({
  type: 'notice',
  seq,
  at: '2026-01-01T00:00:00.000Z',
  run_id: 'run_1',
  text: 'x'.repeat(1000),
})
const codes: string[] = []
let written = 0
for (let n = 1; codes.length < 4; n++) {
  try {
    await writer.write(n, item(n))
    written = n
  } catch (error) {
    codes.push(EvsysError.is(error) ? error.code : String(error))
  }
}
await writer.close()
const reader = readSegment(file, 1)
const items = await reader.next(1_000_000)
process.stdout.write(`${JSON.stringify({ codes, written, read: items.length })}\n`)
