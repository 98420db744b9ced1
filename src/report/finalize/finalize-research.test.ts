import { execFileSync } from 'node:child_process'
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { baselineFiles, generatedSession } from '../../../tests/generated-session.ts'
import { temporaryFolders } from '../../../tests/temporary-folder.ts'
import type { ResearchReportInput } from '../research-report-input.ts'
import { type FinalizedSession, finalizeResearch } from './finalize-research.ts'
import { patchReadme } from './patch-readme.ts'

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
      `evsys research baseline --task shakespeare --patch ${first?.file} --seeds ${first?.n_seeds}`,
    )
    expect(first?.raw_gain).toBeGreaterThan(first?.shrunken_gain ?? Number.POSITIVE_INFINITY)
    expect(patchReadme(finalized)).toContain(`- reproduce: \`${first?.reproduce}\``)
  })

  it('puts what was discarded and built on into the patch of what was kept, and tells what is not part of the best (RES-707)', () => {
    const [kept, later] = finalized.patches.filter(({ needs }) => needs.length === 0)
    const end = finalized.patches.at(-1)
    if (kept === undefined || later === undefined || end === undefined) throw new Error('the session kept several')
    const attempts = session.attempts.map((each) =>
      each.attempt.id === kept.attempt
        ? { ...each, attempt: { ...each.attempt, verdict: 'discarded' as const } }
        : each,
    )
    const built = finalizeResearch({ ...session, attempts })
    expect(built.patches.map(({ attempt }) => attempt)).not.toContain(kept.attempt)
    expect(
      applied(
        built,
        built.patches.map(({ order }) => order),
      ),
    ).toEqual(session.attempts.find(({ attempt }) => attempt.id === end.attempt)?.files)
    const early = finalizeResearch({ ...session, champion: kept.attempt })
    expect(early.patches.at(-1)?.in_best).toBe(false)
    expect(patchReadme(early)).toContain('not part of the best')
  })

  it('a title of a model names a plain file, and its README no link (RES-702)', () => {
    const hostile = generatedSession(12, { title: () => '../../etc/passwd `rm -rf` [x](http://evil) <b>\n# Ü' })
    const { patches } = finalizeResearch(hostile)
    expect(patches.length).toBeGreaterThan(0)
    for (const { file } of patches) expect(file).toMatch(/^\d\d-[a-z0-9-]+\.patch$/)
    expect(patchReadme(finalizeResearch(hostile))).not.toMatch(/[^\\]\]\(http|[^\\]<b|\n# \W/)
  })

  it('leaves out what an ablation dropped, and says so (RES-707)', () => {
    const kept = session.attempts.filter(({ attempt }) => attempt.verdict === 'provisional')
    const last = kept.at(-1)?.attempt.id
    const input: ResearchReportInput = {
      ...session,
      attempts: session.attempts.map((each) =>
        each.attempt.id === last ? { ...each, ablation: { dropped: true } } : each,
      ),
    }
    const without = finalizeResearch(input)
    expect(without.patches.map(({ attempt }) => attempt)).not.toContain(last)
    expect(without.dropped).toHaveLength(1)
    expect(patchReadme(without)).toContain('dead weight')
  })

  it('a champion without a dropped change is all.patch, and no patch of its own (RES-707)', () => {
    const last = session.attempts.findLast(
      ({ attempt }) => attempt.verdict === 'provisional' || attempt.verdict === 'confirmed',
    )
    if (last === undefined) throw new Error('the session kept something')
    const leaner = { ...last, files: baselineFiles() }
    const parents = [last.attempt.id]
    const attempt = { ...last.attempt, id: 'without', number: 99, mode: 'ablate' as const, parents }
    const input = { ...session, champion: 'without', attempts: [...session.attempts, { ...leaner, attempt }] }
    expect(finalizeResearch(input)).toMatchObject({ all: '', patches: finalized.patches })
  })

  it('gives nothing for a session that kept nothing (RES-707)', () => {
    expect(finalizeResearch(generatedSession(0))).toMatchObject({ patches: [], all: '' })
  })
})
