// The packed program on a machine that has Node and nothing else: no compiler, no Python, no git. The quickstart trains a real model
// with the kernels that need no compiler, and concludes. On every supported Node; the one that runs the tests is left to the full
// lane, since fresh-clone.test.ts runs the same quickstart on it with its three seeds; the others train with one but in that lane.
import { mkdirSync, mkdtempSync, rmSync, symlinkSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { installNode, suiteVersions } from '../../scripts/node-versions.mjs'
import { ExperimentResult } from '../../src/contracts/index.ts'
import { mustRun } from '../run-command.ts'
import { inFullLane } from '../scale.ts'
import { installedProgram } from './packed.ts'

const folder = mkdtempSync(join(tmpdir(), 'evsys-bare-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

const experiment = 'experiments/quickstart/config.yaml'
const versions = suiteVersions.filter((version) => inFullLane || `v${version}` !== process.version)

const seeds = inFullLane ? 3 : 1

describe.each(versions)('on Node %s with nothing else on the PATH', (version) => {
  const bin = join(folder, `bin-${version}`)
  const project = join(folder, `project-${version}`)

  async function evsys(cwd: string, ...args: string[]): Promise<string> {
    const env = { PATH: bin, HOME: folder, EVSYS_CACHE: join(folder, `cache-${version}`) }
    return await mustRun(join(bin, 'node'), [installedProgram(), ...args], { cwd, env })
  }

  beforeAll(() => {
    mkdirSync(bin)
    symlinkSync(join(installNode(version), 'node'), join(bin, 'node'))
  })

  it('the quickstart trains a real model on WebAssembly and concludes, and the record says so (CPU-43, MOD-33)', async () => {
    expect(await mustRun(join(bin, 'node'), ['--version'], { cwd: folder })).toBe(`v${version}\n`)
    await evsys(folder, 'init', project)
    const { checks } = JSON.parse(await evsys(project, 'doctor', '--json'))
    const engine = checks.find(({ name }: { name: string }) => name === 'engine')
    expect(engine).toMatchObject({
      status: 'ok',
      found: expect.stringMatching(/^cpu-wasm-.* GFLOP\/s \(no C compiler/),
    })
    await evsys(project, 'validate', experiment, '--deep')
    const run = ['run', experiment, '--json', '--set', `n_repeats=${seeds}`]
    const result = ExperimentResult.parse(JSON.parse(await evsys(project, ...run)))
    expect(result).toMatchObject({
      status: 'completed',
      conclusion: { verdict: seeds === 3 ? 'supported' : 'inconclusive' }, // one seed supports nothing
    })
    const [best] = result.arms.map(({ score }) => score?.mean ?? 0).toSorted((a, b) => b - a)
    expect(best).toBeGreaterThan(0.9)
    expect(result.engines).toEqual([
      {
        id: expect.stringMatching(/^cpu-wasm-[0-9a-f]{16}-/),
        threads: expect.any(Number),
        n_runs: 2 * seeds,
        gflops: expect.any(Number),
      },
    ])
    expect(await evsys(project, 'show', result.experiment_id)).toMatch(
      /^engine +cpu-wasm-\S+, \d+ threads?, [\d.]+ GFLOP\/s$/m,
    )
  }, 240_000)
})
