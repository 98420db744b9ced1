// Saves checkpoint after checkpoint under one name until it is killed or cannot: arguments are the folder and the size.

import { systemClock } from '../../src/kernel/index.ts'
import { CheckpointFolder } from '../../src/trainer/state/checkpoint-files.ts'
import { CheckpointStore } from '../../src/trainer/state/checkpoint-store.ts'

const [, , dir = '', size = ''] = process.argv
const store = await CheckpointStore.open(new CheckpointFolder(dir), systemClock)
const run = {
  version: 1 as const,
  run_id: 'session:train:0',
  session_id: 'session',
  base_model: 'm',
  engine_id: 'mock',
  created_ms: 0,
  user_metadata: {},
}
await store.addRun(run)
for (let round = 1; ; round++) {
  const bytes = new Uint8Array(Number(size)).fill(round % 251)
  try {
    await store.save(run, { folder: 'weights', name: 'last', bytes, ttlSeconds: undefined, userMetadata: {} })
  } catch (error) {
    const entry = store.find({ runId: run.run_id, folder: 'weights', name: 'last' })
    const kept = entry === undefined ? undefined : await store.read(entry)
    console.log(JSON.stringify({ failed: String(error), isWhole: kept?.every((byte) => byte === kept[0]) ?? true }))
    process.exit(0)
  }
  console.log(`saved ${round}`)
}
