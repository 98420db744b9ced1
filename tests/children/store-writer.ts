// Pushes items to a run's stream until it has sent them all or is killed: `store-writer ADDRESS RUN_ID BATCHES`. Each batch has a
// step, a log line and points. Prints a line when the store is open, and one per batch: the number that was acknowledged.
import type { Item } from '../../src/contracts/index.ts'
import { openStore } from '../../src/store/index.ts'

const [address = '', runId = '', batches = ''] = process.argv.slice(2)
await using store = await openStore(address)
const stream = `run:${runId}`
const { nextItem, nextEvent } = await store.cursor(stream)
process.stdout.write('open\n')
let item = nextItem
let event = nextEvent
for (let batch = 0; batch < Number(batches); batch++) {
  const at = new Date().toISOString()
  const step = Math.floor(event / 2)
  const items: Item[] = [
    { type: 'step.finished', seq: event, at, run_id: runId, step, metrics: { loss: 1 / event, lr: event } },
    { type: 'log', seq: event + 1, at, run_id: runId, level: 'info', text: `batch ${batch} of ${process.pid}` },
    {
      type: 'points',
      run_id: runId,
      key: ['tokens', 'tokens'],
      step: [2 * step, 2 * step + 1],
      value: [1, 2],
      at_ms: [1, 1],
    },
  ]
  const ack = await store.push({ stream, fromSeq: item, items })
  item = ack.nextSeq
  event += 2
  process.stdout.write(`${ack.nextSeq}\n`)
}
