import { existsSync } from 'node:fs'
import { expect, it } from 'vitest'
import { evsysBin } from '../cli/run-process.ts'
import { needs } from '../needs.ts'
import { inFullLane } from '../scale.ts'
import { temporaryFolders } from '../temporary-folder.ts'
import { type KillBackend, killed, killRoles, moments, type Role, undisturbed } from './kill-matrix.ts'

const folder = temporaryFolders()
const processList = needs('processes listed below /proc', () => existsSync('/proc/self/task') || 'there are none')
const perRole = inFullLane ? 6 : 1
/** The others have their tests: controllers in killed.test.ts, scorers and evaluators beside their code. */
const sampled: Readonly<Record<KillBackend, readonly Role[]>> = inFullLane
  ? killRoles
  : { mock: ['worker'], local: ['trainer', 'engine'] }

processList.describe('an experiment of which a process is killed', () => {
  it.for(['mock', 'local'] as const)(
    'ends in the same record and leaves nothing, on %s (USE-483, USE-484)',
    { timeout: 3_600_000 },
    async (backend) => {
      const options = { evsys: [process.execPath, evsysBin], dir: folder(), backend }
      const whole = await undisturbed(options)
      expect([...whole.life.keys()].toSorted()).toEqual(killRoles[backend].toSorted())
      for (const role of sampled[backend]) {
        const drawn = moments(backend, role, perRole, 1)
        let met = 0
        for (const moment of drawn) {
          const { at, faults, isEqual } = await killed(options, whole, role, moment)
          expect({ isEqual, faults }, JSON.stringify({ role, moment, at, faults })).toEqual({
            isEqual: true,
            faults: [],
          })
          if (at !== undefined) met += 1
        }
        expect({ role, met }).toEqual({ role, met: expect.toSatisfy((n: number) => n >= drawn.length / 2) })
      }
    },
  )
})
