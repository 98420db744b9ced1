import { expect, it } from 'vitest'
import * as z from 'zod'
import { ErrorRecord } from '../../src/contracts/index.ts'
import { onPrivateTmpfs, privateTmpfs } from '../private-tmpfs.ts'
import { inFullLane } from '../scale.ts'
import { startChild } from '../start-child.ts'
import { temporaryFolders } from '../temporary-folder.ts'

const folder = temporaryFolders()
const slow = 1_800_000
const count = inFullLane ? 10 : 2

const Ended = z.object({ code: z.union([z.number(), z.string()]), error: ErrorRecord.optional() })
const Report = z.object({
  moments: z.array(
    Ended.extend({ sound: z.unknown(), stood: z.array(z.string()), again: Ended.optional(), isEqual: z.boolean() }),
  ),
})

privateTmpfs.describe('an experiment on a disk that becomes full', () => {
  it(
    'ends with an error that says so, and in the same record once there is space (LAB-26)',
    async () => {
      const dir = folder()
      await using child = startChild('fill-experiment-disk', [dir, String(count)], { wrap: onPrivateTmpfs(dir, '48m') })
      const { moments } = Report.parse(JSON.parse(await child.line()))
      expect(moments).toHaveLength(count)
      for (const moment of moments) {
        expect(moment).toMatchObject({ sound: [{ integrity_check: 'ok' }], isEqual: true })
        if (moment.code === 0) continue // it was as good as over
        expect(moment).toMatchObject({
          code: 1,
          error: { code: expect.stringMatching(/^(FILE|STORE)_FAILED$/), fix: expect.stringContaining('space') },
          again: { code: 0 },
        })
      }
      expect(moments.filter(({ code }) => code === 1).length).toBeGreaterThan(0)
    },
    slow,
  )
})
