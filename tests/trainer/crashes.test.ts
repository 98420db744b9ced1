import { describe, expect, it } from 'vitest'
import { systemClock } from '../../src/kernel/index.ts'
import { CheckpointFolder } from '../../src/trainer/state/checkpoint-files.ts'
import { CheckpointStore } from '../../src/trainer/state/checkpoint-store.ts'
import { onPrivateTmpfs, privateTmpfs } from '../private-tmpfs.ts'
import { scaledProcesses } from '../scale.ts'
import { startChild } from '../start-child.ts'
import { temporaryFolders } from '../temporary-folder.ts'

const folder = temporaryFolders()
const last = { runId: 'session:train:0', folder: 'weights', name: 'last' } as const

describe('a save', { timeout: 120_000 }, () => {
  it('that is killed at any moment leaves the checkpoint before it or after it, whole (TRN-12)', async () => {
    for (let round = 0; round < scaledProcesses(10); round++) {
      const dir = folder()
      const child = startChild('save-checkpoints', [dir, String(200_000)])
      for (let saves = 0; saves <= round % 4; saves++) await child.line()
      // Somewhere in the next save: a number of turns that differs from round to round.
      for (let turn = 0; turn < (round * 37) % 200; turn++) await new Promise((resolve) => setImmediate(resolve))
      await child.kill()
      const store = await CheckpointStore.open(new CheckpointFolder(dir), systemClock)
      const entry = store.find(last)
      expect(entry).toBeDefined()
      if (entry === undefined) continue
      const bytes = await store.read(entry)
      expect(bytes.length).toBe(200_000)
      expect(bytes.every((byte) => byte === bytes[0])).toBe(true)
      const run = store.run(last.runId)
      if (run === undefined) throw new Error('the run is gone')
      const next = {
        folder: last.folder,
        name: 'next',
        bytes: Uint8Array.of(1),
        ttlSeconds: undefined,
        userMetadata: {},
      }
      expect(await store.read(await store.save(run, next))).toEqual(Buffer.of(1))
    }
  })

  privateTmpfs.it('on a full disk fails and leaves the checkpoint before it (TRN-12)', async () => {
    const dir = folder()
    const child = startChild('save-checkpoints', [dir, '600000'], { wrap: onPrivateTmpfs(dir, '1m') })
    expect(await child.line()).toBe('saved 1')
    expect(JSON.parse(await child.line())).toEqual({ failed: expect.stringContaining('no space'), isWhole: true })
    await child.exit()
  })
})
