// Edits, knobs and spaces over the bundled examples, checked by the ordinary validator.
import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { scaled } from '../../../../tests/scale.ts'
import { checkDraft, loadExperiment, pluginReferences, wholeExperiment, yamlValue } from '../../../config/index.ts'
import { type CandidateFiles, ExperimentEdit, ResearchBlock } from '../../../contracts/index.ts'
import { type Catalog, EvsysError, keyedRandom, openCatalog } from '../../../kernel/index.ts'
import { unifiedDiff } from '../../diff/unified-diff.ts'
import { allBuiltins } from '../../plugins.ts'
import { applyPatch } from '../../propose/code/apply-patch.ts'
import {
  applyEdits,
  type DerivedSpace,
  deriveSpace,
  describeEdits,
  diffEdits,
  neighbourKnobs,
  readKnobs,
  rewriteYaml,
  sampleKnobs,
  turnKnobs,
} from './index.ts'

const examples = join(import.meta.dirname, '../../../../examples')
const DOCUMENT = 'experiment.yaml'

interface Example {
  readonly label: string
  readonly folder: string
  readonly files: CandidateFiles
  readonly space: DerivedSpace
  readonly catalog: Catalog
}

const block = (given: object = {}) => ResearchBlock.parse(given)

const all: Example[] = []
beforeAll(async () => {
  for (const name of readdirSync(examples)) {
    const folder = join(examples, name)
    const file = join(folder, DOCUMENT)
    const loaded = await loadExperiment({ file })
    const catalog = await openCatalog({
      builtins: allBuiltins(),
      projectDir: folder,
      plugins: pluginReferences(loaded),
      signal: AbortSignal.timeout(60_000),
    })
    const { arms } = await wholeExperiment({ file }).catch(() => ({
      arms: loaded.plan.experiment.runs.map((run) => run.name),
    }))
    for (const arm of arms) {
      const whole = await wholeExperiment({ file }, { arm }).catch((error: unknown) => {
        if (EvsysError.is(error) && error.message.includes('takes weights of')) return undefined
        throw error
      })
      if (whole === undefined) continue
      const files = { [DOCUMENT]: rewriteYaml(whole.text, whole.value) }
      const space = deriveSpace({ root: whole.value, document: DOCUMENT, block: block(), schemaOf: schemasOf(catalog) })
      all.push({ label: `${name}/${arm}`, folder, files, space, catalog })
    }
  }
}, 60_000)
afterAll(async () => {
  for (const { catalog } of all) await catalog[Symbol.asyncDispose]()
})

function schemasOf(catalog: Catalog) {
  return (type: Parameters<Catalog['card']>[0], kind: string) => catalog.card(type, kind)?.schema
}

/** What the validator says of a document that stands where the example does. */
async function problemsOf({ folder, catalog }: Example, files: CandidateFiles): Promise<string[]> {
  try {
    const loaded = await loadExperiment(
      { file: join(folder, DOCUMENT), text: files[DOCUMENT] ?? '' },
      { refuseUnused: true },
    )
    const secrets = { get: () => 'x', hint: '', known: {} }
    const { problems } = await checkDraft(loaded, catalog, { signal: AbortSignal.timeout(60_000), secrets })
    return problems.map(({ message, where }) => `${where?.path}: ${message}`)
  } catch (error) {
    if (EvsysError.is(error)) return error.problems.map(({ message, where }) => `${where?.path}: ${message}`)
    throw error
  }
}

const anExample = () => fc.nat(1_000).map((n) => all[n % all.length] as Example)

describe('the space of an experiment', () => {
  it('is there for every bundled example, and today’s values lie in it (CFG-601)', async () => {
    expect(all.map(({ label }) => label)).toContain('tool-router/dedupe-sft')
    for (const { label, files, space } of all) {
      expect([label, space.problems]).toEqual([label, []])
      const knobs = readKnobs(files, space.catalog)
      expect([label, Object.keys(knobs)]).toEqual([label, Object.keys(space.catalog.knobs)])
      expect([label, turnKnobs(files, knobs, space.catalog)]).toEqual([label, { files }])
    }
  })

  it('has documents at all of its points that the validator takes (CFG-602)', async () => {
    await fc.assert(
      fc.asyncProperty(anExample(), fc.nat(1e6), async (example, seed) => {
        const { files, space } = example
        const point = sampleKnobs(space.catalog, keyedRandom(seed, 'point'))
        const turned = turnKnobs(files, point, space.catalog)
        if ('problems' in turned) throw new Error(turned.problems.join('; '))
        expect([example.label, await problemsOf(example, turned.files)]).toEqual([example.label, []])
        expect(readKnobs(turned.files, space.catalog)).toEqual(point)
        const back = turnKnobs(turned.files, readKnobs(files, space.catalog), space.catalog)
        if ('problems' in back) throw new Error(back.problems.join('; '))
        expect(readKnobs(back.files, space.catalog)).toEqual(readKnobs(files, space.catalog))
      }),
      { numRuns: scaled(25) },
    )
  }, 120_000)

  it('has neighbours one step away, each in its one form (CFG-602)', () => {
    fc.assert(
      fc.property(anExample(), fc.nat(1e6), ({ space: { catalog } }, seed) => {
        const point = sampleKnobs(catalog, keyedRandom(seed, 'point'))
        expect(sampleKnobs(catalog, keyedRandom(seed, 'point'))).toEqual(point)
        for (const near of neighbourKnobs(catalog, point)) {
          expect(near).not.toEqual(point)
          expect(neighbourKnobs(catalog, near).length).toBeGreaterThan(0)
        }
      }),
      { numRuns: scaled(15) },
    )
  })
})

describe('edits', () => {
  it('round-trip: what became of a document, applied to it, gives it, and its patch gives the bytes (CFG-603)', () => {
    fc.assert(
      fc.property(anExample(), fc.nat(1e6), ({ files, space }, seed) => {
        const turned = turnKnobs(files, sampleKnobs(space.catalog, keyedRandom(seed, 'diff')), space.catalog)
        if ('problems' in turned) throw new Error(turned.problems.join('; '))
        const { edits, rest } = diffEdits(files, turned.files, DOCUMENT)
        expect(rest).toBe(false)
        for (const edit of edits) expect(ExperimentEdit.parse(JSON.parse(JSON.stringify(edit)))).toEqual(edit)
        const applied = applyEdits(files, DOCUMENT, edits)
        if ('problems' in applied) throw new Error(JSON.stringify(applied.problems))
        expect(yamlValue(applied.files[DOCUMENT] ?? '', 'x')).toEqual(yamlValue(turned.files[DOCUMENT] ?? '', 'x'))
        const described = describeEdits(files, DOCUMENT, edits)
        expect(described.every(({ text }) => /^\S.*[^.\s]$/s.test(text))).toBe(true)
        // Forth and back, byte for byte.
        const patch = unifiedDiff(files, applied.files)
        const inverse = unifiedDiff(applied.files, files)
        if (patch === '') return
        expect(patched(files, patch)).toEqual(applied.files)
        expect(patched(applied.files, inverse)).toEqual(files)
      }),
      { numRuns: scaled(25) },
    )
  })
})

function patched(files: CandidateFiles, patch: string): CandidateFiles {
  const result = applyPatch(files, patch)
  if ('problems' in result) throw new Error(JSON.stringify(result))
  return result.files
}
