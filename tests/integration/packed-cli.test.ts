// The published program without an installation in the project: `npx` runs the tarball in a folder that has no evsys of its own,
// and the project's TypeScript plugins still find `evsys/plugin`. What follows runs the same package from a folder elsewhere, as
// npx does after seconds of its own.
import { spawnSync } from 'node:child_process'
import { cpSync, existsSync, mkdirSync, mkdtempSync, realpathSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { ErrorReport, ValidateReport } from '../../src/contracts/index.ts'
import { needs } from '../needs.ts'
import { runCommand, unhurried } from '../run-command.ts'
import { packOnce, runInstalled } from './packed.ts'

const compiler = needs('a C compiler', () => spawnSync('cc', ['--version']).status === 0 || 'no cc')
const example = fileURLToPath(new URL('../../examples/custom-plugins', import.meta.url))
const folder = realpathSync(mkdtempSync(join(tmpdir(), 'evsys-npx-')))
const project = join(folder, 'project')
afterAll(() => rmSync(folder, { recursive: true, force: true }))

beforeAll(() => {
  mkdirSync(project)
  cpSync(example, project, { recursive: true })
})

function environment(extra: Record<string, string>): NodeJS.ProcessEnv {
  const { CI, VITEST, NODE_ENV, ...inherited } = process.env
  const own = Object.entries(inherited).filter(([name]) => !/^(npm_(?!config)|VITEST_|EVSYS_)/.test(name))
  return { ...Object.fromEntries(own), ...extra }
}

/** The installed package, in a folder with no copy of evsys. */
async function evsys(extra: Record<string, string>, cwd: string, ...args: string[]) {
  return await runInstalled(args, { cwd, env: environment(extra) })
}

/** `npx` with the tarball, in a folder with no copy of evsys. */
async function npx(cwd: string, ...args: string[]) {
  const env = environment({ npm_config_prefer_offline: 'true', npm_config_ignore_scripts: 'true' })
  // npm itself was seen to wait for ever at its start.
  const options = { cwd, env, timeout: 150_000 }
  const result = await runCommand('npx', ['--yes', '--package', packOnce(), 'evsys', ...args], options)
  return { ...result, stderr: unhurried(result.stderr.replace(/^npm (warn|notice).*\n/gm, '')) }
}

describe('evsys from the tarball', () => {
  it('validates by npx a project with a custom transform, verifier, metric and algorithm (CLI-8)', async () => {
    const { status, stdout, stderr } = await npx(project, 'validate', 'experiment.yaml', '--deep', '--json')
    expect({ status, stderr }).toEqual({ status: 0, stderr: '' })
    const report = ValidateReport.parse(JSON.parse(stdout))
    expect(report).toMatchObject({ deep: true, n_runs: 6, notices: [] })
    expect(report.arms.map(({ params }) => params['algorithm.kind'])).toEqual(['sft', 'focal_sft'])
    expect(existsSync(join(project, 'node_modules'))).toBe(false)
  })

  it('lists the project’s plugins beside the built-in ones (CLI-5, CLI-8)', async () => {
    const { status, stdout } = await evsys({}, project, 'list', '--json')
    expect(status).toBe(0)
    const { plugins } = JSON.parse(stdout)
    const origin = (type: string, kind: string) =>
      plugins.find((each: { type: string; kind: string }) => each.type === type && each.kind === kind)?.origin
    expect(origin('transform', 'dedupe_by_intent')).toBe('src/plugins/dedupe-by-intent.ts')
    expect(origin('verifier', 'intent_score')).toBe('src/plugins/intent-score.ts')
    expect(origin('metric', 'worst_share')).toBe('src/plugins/intent-score.ts')
    expect(origin('algorithm', 'focal_sft')).toBe('src/plugins/focal-sft.ts')
    expect(origin('algorithm', 'sft')).toBe('built-in')
  })

  it.each([
    ['transform', 'dedupe_by_intent', 'keep'],
    ['verifier', 'intent_score', 'partial'],
    ['metric', 'worst_share', 'share'],
    ['algorithm', 'focal_sft', 'gamma'],
  ])('prints the schema of the %s %s (CLI-5, CLI-8)', async (type, kind, param) => {
    const { status, stdout } = await evsys({}, project, 'schema', type, kind)
    expect(status).toBe(0)
    expect(JSON.parse(stdout).properties[param]).toMatchObject({ description: expect.any(String) })
  })

  it('says what is wrong with params of a custom plugin (CLI-8)', async () => {
    const args = ['validate', 'experiment.yaml', '--deep', '--json', '--set', 'algorithm.params.gama=2']
    const { status, stdout } = await evsys({}, project, ...args)
    expect(status).toBe(2)
    const { errors } = ErrorReport.parse(JSON.parse(stdout))
    expect(errors.map(({ message }) => message).join('\n')).toContain('gama')
  })

  it('computes with the kernels of the package (CPU-43)', async () => {
    const env = { EVSYS_ENGINE: 'wasm', EVSYS_CACHE: join(folder, 'cache') }
    const { status, stdout, stderr } = await evsys(env, folder, 'engine', 'info', '--json')
    expect({ status, stderr }).toEqual({ status: 0, stderr: '' })
    const { kernels, gflops } = JSON.parse(stdout)
    expect(kernels).toBe('wasm')
    expect(gflops).toBeGreaterThan(0)
  })

  compiler.it('compiles native kernels from the sources of the package (CPU-43)', async () => {
    const { status, stdout } = await evsys({ EVSYS_CACHE: join(folder, 'cache') }, folder, 'engine', 'build', '--json')
    expect(status).toBe(0)
    expect(JSON.parse(stdout)).toMatchObject({ built: true, engine_id: expect.stringMatching(/^cpu-native-/) })
  })

  it('makes a project that validates deeply (CLI-1, CLI-8)', async () => {
    expect((await evsys({}, folder, 'init', 'my lab')).status).toBe(0)
    const lab = join(folder, 'my lab')
    const checked = await evsys({}, lab, 'validate', 'experiments/quickstart/config.yaml', '--deep')
    expect({ status: checked.status, stderr: checked.stderr }).toEqual({ status: 0, stderr: '' })
    expect(checked.stdout).toContain('2 arms x 3 seeds = 6 runs')
    expect(existsSync(join(lab, 'node_modules'))).toBe(false)
  })
})
