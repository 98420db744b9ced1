// A plugin of each type, exactly as the guides show it, and those of the examples, in projects with the packed evsys and nothing of
// this repository.
import { cpSync, mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { probeSandboxes } from '../../src/sandbox/index.ts'
import { needs } from '../needs.ts'
import { guideFiles, pluginGuides } from '../plugin-guides.ts'
import { mustRun, runCommand } from '../run-command.ts'
import { installedOnce, installedProgram, runInstalled } from './packed.ts'

const root = fileURLToPath(new URL('../..', import.meta.url))
const works = await probeSandboxes()
const sandbox = needs(
  'a sandbox',
  () =>
    works.some(({ level, reason }) => level !== 'container' && reason === undefined) ||
    works.map(({ reason }) => reason).join(),
)

const runner = ['--import', 'jiti/register', '--test-reporter', 'tap']
const files = guideFiles()
const namesOf = (pattern: RegExp) => Object.keys(files).filter((path) => pattern.test(path))
// Inside the consumer: its tests find `evsys/testing` as they would in any project.
const folder = mkdtempSync(join(installedOnce(), 'guides-'))
const project = join(folder, 'lab')
afterAll(() => rmSync(folder, { recursive: true, force: true }))

function write(path: string, text: string): void {
  mkdirSync(dirname(join(project, path)), { recursive: true })
  writeFileSync(join(project, path), text)
}

const evsys = (...args: string[]) => runInstalled(args, { cwd: project })

beforeAll(async () => {
  await mustRun(process.execPath, [installedProgram(), 'init', project], { cwd: folder })
  for (const [path, text] of Object.entries(files)) write(path, text)
  cpSync(join(root, 'examples'), join(folder, 'examples'), { recursive: true })
})

/** The tests of the examples, by their paths from the project. */
function exampleTests(): string[] {
  const names = readdirSync(join(root, 'examples'), { recursive: true, encoding: 'utf8' })
  return names.filter((name) => name.endsWith('.test.ts')).map((name) => `../examples/${name}`)
}

describe('plugins as the guides and examples show them, with the packed evsys', () => {
  it('compile (REPO-4, REPO-12)', async () => {
    const options = {
      ...{ module: 'nodenext', target: 'es2023', lib: ['es2023', 'esnext.disposable'], strict: true },
      ...{ noUncheckedIndexedAccess: true, exactOptionalPropertyTypes: true, allowImportingTsExtensions: true },
      ...{ noEmit: true, skipLibCheck: true, types: ['node'], typeRoots: [join(root, 'node_modules', '@types')] },
    }
    write('tsconfig.json', JSON.stringify({ compilerOptions: options, include: ['src', 'tests', '../examples'] }))
    const tsc = join(root, 'node_modules', 'typescript', 'bin', 'tsc')
    await mustRun(process.execPath, [tsc, '-p', project], { cwd: project })
  })

  sandbox.it('pass their tests with evsys/testing (REPO-11, REPO-12)', async () => {
    const tests = [...namesOf(/^tests\//), ...exampleTests()]
    expect(tests).toHaveLength(15 + 4)
    // One process for all of them: each would load evsys anew.
    write('all.ts', tests.map((path) => `import '${path.startsWith('.') ? path : `./${path}`}'\n`).join(''))
    const { status, stdout, stderr } = await runCommand(process.execPath, [...runner, 'all.ts'], {
      cwd: project,
    })
    expect(`${stdout}${stderr}`.match(/^not ok.*/gm) ?? []).toEqual([])
    expect(status).toBe(0)
    expect(Number(/^# pass (\d+)/m.exec(stdout)?.[1])).toBeGreaterThanOrEqual(15 + 4)
  })

  it('are listed, one of each type that can be tested (REPO-12)', async () => {
    const { stdout } = await evsys('list', '--json')
    const plugins: { type: string; origin: string }[] = JSON.parse(stdout).plugins
    const own = plugins.filter(({ origin }) => namesOf(/^src\/plugins\//).includes(origin))
    expect(own.map(({ type }) => type).sort()).toEqual(
      pluginGuides()
        .map(({ type }) => type)
        .sort(),
    )
  })

  it.each(namesOf(/\.yaml$/))('%s is valid in a project with all of them (REPO-12)', async (file) => {
    const { status, stderr } = await evsys('validate', file, '--deep')
    expect({ status, stderr }).toEqual({ status: 0, stderr: '' })
  })

  it('search: proposer, strategy and keep rule in one session (REPO-12)', async () => {
    const flags = ['--proposer', 'random_knob', '--strategy', 'fresh_start', '--keep-rule', 'all_better']
    const budget = ['--max-experiments', '2', '--json']
    const { status, stdout } = await evsys('research', 'run', '--task', 'table-search', ...flags, ...budget)
    expect(status).toBe(0)
    expect(JSON.parse(stdout)).toMatchObject({ experiment_id: expect.any(String) })
  })
})
