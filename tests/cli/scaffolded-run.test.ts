import { spawnSync } from 'node:child_process'
import { mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { openStore } from '../../src/store/index.ts'
import { temporaryFolders } from '../temporary-folder.ts'
import { root, runMain } from './run-main.ts'
import { cleanEnv } from './run-process.ts'

const folder = temporaryFolders()
const jiti = join(dirname(createRequire(import.meta.url).resolve('jiti/package.json')), 'lib/jiti-cli.mjs')

/** A project with evsys installed and a new experiment, made short, on the mock backend. Returns the folder of the experiment. */
async function newExperiment(): Promise<{ project: string; dir: string }> {
  const project = folder()
  await runMain(['init', project])
  await runMain(['new-experiment', 'short', '--date', '20260131', '--project', project])
  mkdirSync(join(project, 'node_modules'))
  symlinkSync(root, join(project, 'node_modules/evsys'), 'junction')
  const dir = join(project, 'experiments/20260131-short')
  const config = join(dir, 'config.yaml')
  const text = readFileSync(config, 'utf8')
    .replace('max_steps: 40', 'max_steps: 4')
    .replace('evsys/tiny', 'mock')
    .replace('kind: local', 'kind: mock')
  writeFileSync(config, text.replace('n_repeats: 3', 'n_repeats: 2'))
  return { project, dir }
}

const runProgram = (dir: string) =>
  spawnSync(process.execPath, [jiti, 'run.ts'], { cwd: dir, encoding: 'utf8', env: cleanEnv() })

describe('the run.ts of a new experiment', () => {
  it('writes the same record as `evsys run` (CLI-21)', async () => {
    const { project, dir } = await newExperiment()
    const program = runProgram(dir)
    expect({ status: program.status, stderr: program.stderr.split('\n').sort() }).toEqual({
      status: 0,
      stderr: [
        '',
        ...['learning_rate0p0005', 'learning_rate0p002'].flatMap((arm) =>
          [42, 43].map((seed) => `short__${arm}__s${seed}: completed`),
        ),
      ],
    })
    const [, byProgram = ''] = /^short \((exp_\w+)\): \w+: /.exec(program.stdout) ?? []
    const command = await runMain(['run', 'config.yaml', '--json'], { cwd: dir })
    expect(command.code).toBe(0)
    await using store = await openStore(join(project, '.evsys/evsys.db'))
    const [a, b] = await Promise.all([
      store.canonicalRecord(byProgram),
      store.canonicalRecord(JSON.parse(command.stdout).experiment_id),
    ])
    expect(a).toEqual(b)
    expect(JSON.stringify(a).length).toBeGreaterThan(1000)
  }, 120_000)

  it('tells what is wrong with the file as the command line does, and starts nothing (CLI-21)', async () => {
    const { dir } = await newExperiment()
    const config = join(dir, 'config.yaml')
    writeFileSync(config, readFileSync(config, 'utf8').replace('kind: sft', 'kind: sfd'))
    const { status, stdout, stderr } = runProgram(dir)
    expect({ status, stdout }).toEqual({ status: 2, stdout: '' })
    expect(stderr).toMatch(/config\.yaml:\d+:\d+ {2}PLUGIN_UNKNOWN\n[\s\S]*fix: did you mean "sft"\?/)
  }, 240_000)
})
