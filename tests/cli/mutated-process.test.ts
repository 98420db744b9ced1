// The spoiled experiment files of tests/mutated-experiments.ts through the real program: exit code, streams and text as a user
// meets them. Fewer than in-process, since each case is a process.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import fc from 'fast-check'
import { afterAll, describe, expect, it } from 'vitest'
import { mapConcurrent } from '../../src/kernel/index.ts'
import { corpus, mutationsOf } from '../mutated-experiments.ts'
import { scaledProcesses } from '../scale.ts'
import { runProcess } from './run-process.ts'

const folder = mkdtempSync(join(tmpdir(), 'evsys-spoiled-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

describe('evsys validate', () => {
  it('explains spoiled experiment files with exit code 2 and no stack trace (ERR-3, CLI-3)', async () => {
    const sites = Object.values(corpus).flatMap((text) => Object.values(mutationsOf(text)).flat())
    const spoiled = fc.tuple(fc.constantFrom(...sites), fc.nat(1_000)).map(([apply, pick]) => apply(pick))
    const { seed = Date.now() } = fc.readConfigureGlobal()
    const cases = fc.sample(spoiled, { numRuns: scaledProcesses(24), seed })
    const { signal } = new AbortController()
    await mapConcurrent(cases, { limit: 2, signal }, async ({ text, lines }, i) => {
      const file = `case-${i}.yaml`
      writeFileSync(join(folder, file), text)
      const { code, stdout, stderr } = await runProcess(['validate', file], { cwd: folder })
      expect({ code, stdout }, text).toEqual({ code: 2, stdout: '' })
      expect(stderr).not.toMatch(/^\s+at .+:\d+:\d+|node:internal/m)
      const told = [...stderr.matchAll(/^case-\d+\.yaml:(\d+):\d+ {2}[A-Z_]+$/gm)].map(([, line]) => Number(line))
      expect(
        told.some((line) => lines.includes(line)),
        `${stderr}\n${text}`,
      ).toBe(true)
      expect(stderr).toMatch(new RegExp(`\\n\\n\\d+ problems? in ${file}\\n$`))
    })
  }, 1_800_000)
})
