import { execFileSync } from 'node:child_process'
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { baselineFiles, generatedSession } from '../../../tests/generated-session.ts'
import { temporaryFolders } from '../../../tests/temporary-folder.ts'
import type { Attempt, CandidateFiles } from '../../contracts/index.ts'
import { type FinalizedSession, finalizeResearch, patchReadme } from './finalize-research.ts'

const folder = temporaryFolders()

/** Candidate files after patches, in the order given. */
function applied({ patches }: Pick<FinalizedSession, 'patches'>, orders: readonly number[]): Record<string, string> {
  const cwd = folder()
  for (const [name, text] of Object.entries(baselineFiles())) writeFileSync(join(cwd, name), text)
  const dir = join(cwd, 'patches')
  mkdirSync(dir)
  const names = orders.map((order) => {
    const found = patches.find((each) => each.order === order)
    writeFileSync(join(dir, found?.file ?? ''), found?.patch ?? '')
    return join(dir, found?.file ?? '')
  })
  for (const name of names) execFileSync('git', ['apply', name], { cwd, stdio: 'pipe' })
  return Object.fromEntries(Object.keys(baselineFiles()).map((name) => [name, readFileSync(join(cwd, name), 'utf8')]))
}

const session = generatedSession(45)

describe('finalize', () => {
  const finalized = finalizeResearch(session)

  it('makes a patch of every kept change, which applies to the baseline after what it needs (RES-707)', () => {
    expect(finalized.patches.length).toBeGreaterThan(5)
    expect(finalized.patches.some(({ needs }) => needs.length === 0)).toBe(true)
    for (const { order, needs } of finalized.patches.slice(-4)) {
      expect(needs.every((each) => each < order)).toBe(true)
      expect(applied(finalized, [...needs, order])['train.py']).not.toBe(baselineFiles()['train.py'])
    }
  })

  it('tells those on their own from those that change what another changed (RES-707)', () => {
    // Every twelfth change turns the same setting again.
    const dependent = finalized.patches.filter(({ needs }) => needs.length > 0)
    const partOf = (attempt: string) => Number(attempt.slice(1)) % 12
    for (const { attempt, needs } of finalized.patches) {
      const before = finalized.patches.filter(
        (each) => each.attempt !== attempt && partOf(each.attempt) === partOf(attempt),
      )
      const earlier = before.filter((each) => Number(each.attempt.slice(1)) < Number(attempt.slice(1)))
      expect(needs).toEqual(earlier.map(({ order }) => order))
    }
    expect(dependent.length).toBeGreaterThan(0)
  })

  it('all patches in their order give what the session ended with (RES-707)', () => {
    const all = applied(
      finalized,
      finalized.patches.map(({ order }) => order),
    )
    const champion = session.attempts.findLast(
      ({ attempt }) => attempt.verdict === 'provisional' || attempt.verdict === 'confirmed',
    )
    expect(all).toEqual(champion?.files)
    const once = applied(
      { patches: [{ ...finalized.patches[0], file: 'all.patch', order: 1, patch: finalized.all } as never] },
      [1],
    )
    expect(once).toEqual(champion?.files)
  })

  it('tells the evidence of each and a line that measures it again (RES-707)', () => {
    const [first] = finalized.patches
    expect(first).toMatchObject({ order: 1, verdict: expect.any(String), n_seeds: expect.any(Number), needs: [] })
    expect(first?.reproduce).toBe(
      `evsys research baseline --task shakespeare --patch ${first?.file} --seeds ${first?.measured.map(({ seed }) => seed).join(',')} --train-seconds 30`,
    )
    expect(first?.raw_gain).toBeGreaterThanOrEqual(first?.shrunken_gain ?? Number.POSITIVE_INFINITY)
    expect(patchReadme(finalized)).toContain(`- reproduce: \`${first?.reproduce}\``)
  })

  it('are the steps that races measured, on whatever candidate an idea was written (RES-713)', () => {
    const start = baselineFiles()
    const turned = (files: CandidateFiles, part: number, to: number) => ({
      ...files,
      'train.py': (files['train.py'] ?? '').replace(new RegExp(`SETTING_${part} = \\d+`), `SETTING_${part} = ${to}`),
    })
    const one = turned(start, 1, 5)
    const side = turned(start, 3, 7) // discarded, and built on
    const best = turned(turned(side, 1, 5), 8, 9)
    const [zero, ...others] = generatedSession(3).attempts.map(({ attempt }) => attempt)
    const made = (id: string, parent: string, files: CandidateFiles, verdict: 'provisional' | 'discarded') => ({
      attempt: {
        ...(others[Number(id.slice(1)) - 1] ?? others[0]),
        ...{ id, title: id, parents: [parent], verdict, gain: { mean: 0.1, n: 2, sigma: 0.01 } },
        scores: [4, 5, 6].map((seed) => ({ seed, value: seed / 10, secondary: {} })),
      } as Attempt,
      files,
    })
    const attempts = [
      { attempt: zero as Attempt, files: start },
      made('a1', 'a0', one, 'provisional'),
      made('a2', 'a0', side, 'discarded'),
      made('a3', 'a2', best, 'provisional'),
    ]
    const input = { ...session, attempts, champion: 'a3', succession: ['a0', 'a1', 'a3'] }
    const { patches, all } = finalizeResearch(input)
    expect(patches).toMatchObject([
      { attempt: 'a1', against: 'a0', needs: [] },
      { attempt: 'a3', against: 'a1', written_on: 'a2', needs: [], measured: [{ seed: 4 }, { seed: 5 }] },
    ])
    expect(patches[1]?.reproduce).toMatch(/--patch 01-a1\.patch --patch 02-a3\.patch --seeds 4,5 /)
    expect(applied({ patches }, [1, 2])).toEqual(best)
    // Where a person takes an incumbent away, what lay between led nowhere.
    const vetoed = finalizeResearch({ ...input, succession: ['a0', 'a1', 'a0', 'a3'] })
    expect(vetoed.patches.map(({ attempt, against }) => [attempt, against])).toEqual([['a3', 'a0']])
    expect(vetoed.all).toBe(all)
    // A change that was taken out again is no step, nor is taking it out.
    const ablated = made('a4', 'a3', turned(best, 1, 1), 'provisional')
    const leaner = { ...ablated, attempt: { ...ablated.attempt, mode: 'ablate' as const, parents: ['a3', 'a1'] } }
    const without = finalizeResearch({
      ...input,
      attempts: [...attempts, leaner],
      champion: 'a4',
      succession: ['a0', 'a1', 'a3', 'a4'],
    })
    expect(without).toMatchObject({ patches: [{ attempt: 'a3', measured: [] }], dropped: ['a1'] })
    expect(applied(without, [1])).toEqual(leaner.files)
    expect(patchReadme(without)).toContain('dead weight')
  })

  it('a title of a model names a plain file, and its README no link (RES-702)', () => {
    const hostile = generatedSession(12, { title: () => '../../etc/passwd `rm -rf` [x](http://evil) <b>\n# Ü' })
    const { patches } = finalizeResearch(hostile)
    expect(patches.length).toBeGreaterThan(0)
    for (const { file } of patches) expect(file).toMatch(/^\d\d-[a-z0-9-]+\.patch$/)
    expect(patchReadme(finalizeResearch(hostile))).not.toMatch(/[^\\]\]\(http|[^\\]<b|\n# \W/)
  })

  it('gives nothing for a session that kept nothing (RES-707)', () => {
    expect(finalizeResearch(generatedSession(0))).toMatchObject({ patches: [], all: '' })
  })
})
