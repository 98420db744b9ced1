// The packed program on a machine that has Node and nothing else: no compiler, no Python, no git. The quickstart concludes, and an
// experiment on this machine's own engine trains a real model with the kernels that need no compiler. On every supported Node.
import { mkdirSync, mkdtempSync, rmSync, symlinkSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { installNode, suiteVersions } from '../../scripts/node-versions.mjs'
import { ExperimentResult } from '../../src/contracts/index.ts'
import { mustRun } from '../run-command.ts'
import { installedProgram } from './packed.ts'

const folder = mkdtempSync(join(tmpdir(), 'evsys-bare-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

const experiment = 'experiments/quickstart/config.yaml'

/** Settings that turn the quickstart into a short training of a real model. */
const local = [
  'backend.kind=local',
  'model.name=evsys/tiny',
  'algorithm.params.max_steps=3',
  'algorithm.params.lora_rank=4',
  'n_repeats=1',
].flatMap((set) => ['--set', set])

describe.each(suiteVersions)('on Node %s with nothing else on the PATH', (version) => {
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

  it('the quickstart runs from a new project to a conclusion (CPU-43)', async () => {
    expect(await mustRun(join(bin, 'node'), ['--version'], { cwd: folder })).toBe(`v${version}\n`)
    await evsys(folder, 'init', project)
    await evsys(project, 'validate', experiment, '--deep')
    const result = ExperimentResult.parse(JSON.parse(await evsys(project, 'run', experiment, '--json')))
    expect(result).toMatchObject({ status: 'completed', conclusion: { verdict: 'supported' } })
  }, 120_000)

  it('a real model is trained and sampled from on WebAssembly, and the record says so (CPU-43)', async () => {
    const { checks } = JSON.parse(await evsys(project, 'doctor', '--json'))
    const engine = checks.find(({ name }: { name: string }) => name === 'engine')
    expect(engine).toMatchObject({
      status: 'ok',
      found: expect.stringMatching(/^cpu-wasm-.* GFLOP\/s \(no C compiler/),
    })
    const result = ExperimentResult.parse(JSON.parse(await evsys(project, 'run', experiment, '--json', ...local)))
    expect(result).toMatchObject({ status: 'completed', arms: [{ status: 'completed' }, {}, {}] })
    expect(result.engines).toEqual([
      { id: expect.stringMatching(/^cpu-wasm-[0-9a-f]{16}-/), threads: expect.any(Number), n_runs: 3 },
    ])
    expect(await evsys(project, 'show', result.experiment_id)).toMatch(/^engine +cpu-wasm-\S+, \d+ threads?$/m)
  }, 120_000)
})
