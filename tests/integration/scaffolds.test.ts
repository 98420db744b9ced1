// Every file that evsys writes for a user, made and run by the packed package: a build must not change what templates say.
import { spawnSync } from 'node:child_process'
import { mkdtempSync, readdirSync, readFileSync, realpathSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { needs } from '../needs.ts'
import { mustRun, runCommand } from '../run-command.ts'
import { installedOnce, installedProgram } from './packed.ts'

const python = needs('python3', () => spawnSync('python3', ['--version']).status === 0 || 'no python3')
const root = fileURLToPath(new URL('../..', import.meta.url))
const folder = realpathSync(mkdtempSync(join(tmpdir(), 'evsys-scaffolds-')))
const project = join(folder, 'lab')
afterAll(() => rmSync(folder, { recursive: true, force: true }))

const evsys = (...args: string[]) => mustRun(process.execPath, [installedProgram(), ...args], { cwd: project })

beforeAll(async () => {
  await mustRun(process.execPath, [installedProgram(), 'init', project], { cwd: folder })
  // As after `npm install --save-dev evsys jiti` in the project.
  symlinkSync(join(installedOnce(), 'node_modules'), join(project, 'node_modules'), 'junction')
})

describe('what the packed evsys writes for a user', () => {
  it('is as its templates are, to the byte (USE-84)', async () => {
    const templates = join(root, 'templates/project')
    const entries = readdirSync(templates, { recursive: true, withFileTypes: true })
    const files = entries.filter((each) => each.isFile()).map((each) => join(each.parentPath, each.name))
    expect(files.length).toBeGreaterThan(6)
    for (const file of files) {
      const written = readFileSync(join(project, file.slice(templates.length)), 'utf8')
      expect(written).toBe(readFileSync(file, 'utf8'))
    }
  })

  it('runs: the experiment and the plugin of `init` (USE-84)', async () => {
    const stdout = await evsys('run', 'experiments/quickstart/config.yaml', '--dry', '--steps', '2', '--json')
    expect(JSON.parse(stdout)).toMatchObject({ status: 'completed' })
  })

  it('runs: config.yaml and run.ts of `new-experiment` (USE-84)', async () => {
    await evsys('new-experiment', 'short', '--date', '20260131')
    const dir = join(project, 'experiments/20260131-short')
    const template = readFileSync(join(root, 'templates/experiment/run.ts'), 'utf8')
    expect(readFileSync(join(dir, 'run.ts'), 'utf8')).toBe(template)
    const config = join(dir, 'config.yaml')
    const text = readFileSync(config, 'utf8')
    writeFileSync(
      config,
      text
        .replace('max_steps: 40', 'max_steps: 2')
        .replace('evsys/tiny', 'mock')
        .replace('kind: local', 'kind: mock')
        .replace('n_repeats: 3', 'n_repeats: 2'),
    )
    const jiti = join(installedOnce(), 'node_modules/jiti/lib/jiti-cli.mjs')
    const ran = await runCommand(process.execPath, [jiti, 'run.ts'], { cwd: dir })
    expect({ status: ran.status, stderr: ran.stderr }).toMatchObject({ status: 0 })
    expect(ran.stdout).toMatch(/^short \(exp_\w+\): \w+/)
    await evsys('run', config, '--json')
  })

  const runsTask = async (runtime: 'node' | 'python') => {
    const name = `own-${runtime}`
    await evsys('task', 'init', name, '--runtime', runtime)
    const dir = join(project, 'tasks', name)
    const own = runtime === 'node' ? 'scaffold' : 'scaffold-python'
    for (const file of readdirSync(join(root, 'tasks/shared', own))) {
      const template = readFileSync(join(root, 'tasks/shared', own, file), 'utf8')
      const text = basename(file) === 'task.yaml' ? template.replace('NAME', name) : template
      expect(readFileSync(join(dir, file), 'utf8')).toBe(text)
    }
    await evsys('task', 'validate', name, '--deep')
    const args = ['research', 'run', '--task', name, '--proposer', 'optimizer', '--max-experiments', '1', '--json']
    expect(JSON.parse(await evsys(...args))).toBeTypeOf('object')
  }

  it('runs: the research task of `task init` (USE-84)', () => runsTask('node'))
  python.it('runs: the research task of `task init --runtime python` (USE-84)', () => runsTask('python'))
})
