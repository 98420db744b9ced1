import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
import { runMain } from './run-main.ts'

const folder = mkdtempSync(join(tmpdir(), 'evsys-init-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))
let count = 0
const fresh = () => {
  const dir = join(folder, `case-${++count}`)
  mkdirSync(dir)
  return dir
}

/** Every file below a folder with its text. */
function snapshot(dir: string): Record<string, string> {
  const names = readdirSync(dir, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile())
  return Object.fromEntries(
    names
      .map((entry) => join(entry.parentPath, entry.name))
      .sort()
      .map((path) => [path.slice(dir.length + 1), readFileSync(path, 'utf8')]),
  )
}

const quickstart = 'experiments/quickstart/config.yaml'

describe('init', () => {
  it('makes a project whose experiment validates deeply, without a notice (CLI-1)', async () => {
    const cwd = fresh()
    const made = await runMain(['init', 'lab'], { cwd })
    expect({ code: made.code, stderr: made.stderr }).toEqual({ code: 0, stderr: '' })
    await expect(made.stdout).toMatchFileSnapshot('golden/init.txt')
    const checked = await runMain(['validate', quickstart, '--deep'], { cwd: join(cwd, 'lab') })
    expect({ code: checked.code, stderr: checked.stderr }).toEqual({ code: 0, stderr: '' })
    await expect(checked.stdout).toMatchFileSnapshot('golden/init-plan.txt')
  })

  it('writes exactly these files (CLI-1)', async () => {
    const cwd = fresh()
    await runMain(['init'], { cwd })
    const files = snapshot(cwd)
    expect(files['.evsys/.gitignore']).toBe('*\n')
    expect(JSON.parse(files['.evsys/schema/experiment.json'] ?? '')).toMatchObject({ type: 'object' })
    delete files['.evsys/schema/experiment.json'] // the schema has its own golden file
    const text = Object.entries(files).map(([path, content]) => `=== ${path}\n${content}`)
    await expect(text.join('\n')).toMatchFileSnapshot('golden/init-files.txt')
  })

  it('names a schema file that editors find from the experiment (CLI-1)', async () => {
    const cwd = fresh()
    await runMain(['init'], { cwd })
    const [, path = ''] =
      /^# yaml-language-server: \$schema=(\S+)$/m.exec(readFileSync(join(cwd, quickstart), 'utf8')) ?? []
    expect(existsSync(join(cwd, quickstart, '..', path))).toBe(true)
  })

  it('tells what it did as one document under --json (CLI-2)', async () => {
    const cwd = fresh()
    const { code, stdout, stderr } = await runMain(['init', 'lab', '--json'], { cwd })
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
    expect(JSON.parse(stdout)).toEqual({
      project: join(cwd, 'lab'),
      created: expect.arrayContaining([quickstart, 'AGENTS.md']),
      kept: [],
    })
  })

  it('refuses a folder that has some of the files, and names them (CLI-1)', async () => {
    const cwd = fresh()
    await runMain(['init'], { cwd })
    const before = snapshot(cwd)
    const { code, stdout, stderr } = await runMain(['init'], { cwd })
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' })
    expect(stderr).toMatch(/^PROJECT_EXISTS\n.*AGENTS\.md.*experiments\/quickstart\/config\.yaml\n {2}fix: .*--force/)
    expect(snapshot(cwd)).toEqual(before)
  })

  it('adds with --force what is missing and changes nothing else (CLI-1)', async () => {
    const cwd = fresh()
    await runMain(['init'], { cwd })
    const complete = snapshot(cwd)
    writeFileSync(join(cwd, 'AGENTS.md'), 'mine')
    writeFileSync(join(cwd, 'data', 'train.jsonl'), '')
    rmSync(join(cwd, 'data', 'val'), { recursive: true })
    rmSync(join(cwd, '.evsys'), { recursive: true })
    const { code, stdout } = await runMain(['init', '--force', '--json'], { cwd })
    expect(code).toBe(0)
    expect(JSON.parse(stdout).created.sort()).toEqual(
      ['.evsys/.gitignore', '.evsys/schema/experiment.json', 'data/val/metadata.yaml', 'data/val/tasks.jsonl'].sort(),
    )
    expect(snapshot(cwd)).toEqual({ ...complete, 'AGENTS.md': 'mine', 'data/train.jsonl': '' })
    expect((await runMain(['init', '--force'], { cwd })).stdout).toContain('nothing is missing')
  })

  it('leaves what is not its own alone (CLI-1)', async () => {
    const cwd = fresh()
    writeFileSync(join(cwd, 'README.md'), 'mine')
    writeFileSync(join(cwd, 'package.json'), '{"name":"mine"}')
    mkdirSync(join(cwd, '.evsys')) // as a command leaves it in a folder that nobody initialised
    writeFileSync(join(cwd, '.evsys', '.gitignore'), '*')
    expect((await runMain(['init'], { cwd })).code).toBe(0)
    expect(snapshot(cwd)).toMatchObject({ 'README.md': 'mine', 'package.json': '{"name":"mine"}' })
  })

  it.each(['my lab', 'größe-実験-👍', "it's", '$(echo x)', '-x'])(
    'works in a folder called %s (CLI-1)',
    async (name) => {
      const cwd = fresh()
      const { code, stdout } = await runMain(['init', '--', name], { cwd })
      expect(code).toBe(0)
      expect(stdout).toContain(`cd ${name === 'größe-実験-👍' || /[ '$()]/.test(name) ? "'" : ''}`)
      const checked = await runMain(['validate', quickstart, '--deep', '--json'], { cwd: join(cwd, name) })
      expect(JSON.parse(checked.stdout)).toMatchObject({ valid: true })
    },
  )

  it('makes the folders above too (CLI-1)', async () => {
    const cwd = fresh()
    expect((await runMain(['init', 'a/b/c'], { cwd })).code).toBe(0)
    expect(existsSync(join(cwd, 'a/b/c', quickstart))).toBe(true)
  })

  it('refuses a file in place of the folder (CLI-1)', async () => {
    const cwd = fresh()
    writeFileSync(join(cwd, 'lab'), '')
    const { code, stderr } = await runMain(['init', 'lab'], { cwd })
    expect(code).toBe(2)
    expect(stderr).toMatch(/^CLI_USAGE\n.*lab is a file/)
  })

  it.each(['data', 'experiments', '.evsys'])(
    'refuses a file called %s where a folder must be (CLI-1)',
    async (name) => {
      const cwd = fresh()
      writeFileSync(join(cwd, name), 'mine')
      for (const args of [['init'], ['init', '--force']]) {
        const { code, stdout, stderr } = await runMain(args, { cwd })
        expect({ code, stdout }).toEqual({ code: 1, stdout: '' })
        expect(stderr).toMatch(/^FILE_FAILED\n/)
      }
      expect(snapshot(cwd)).toEqual({ [name]: 'mine' })
    },
  )

  it('writes through no link that stands in the place of a file (CLI-1)', async () => {
    const cwd = fresh()
    symlinkSync(join(cwd, 'elsewhere'), join(cwd, 'AGENTS.md'))
    expect((await runMain(['init', '--force'], { cwd })).code).toBe(0)
    expect(existsSync(join(cwd, 'elsewhere'))).toBe(false)
  })

  it('says that a folder cannot be written to (CLI-1)', async () => {
    const cwd = fresh()
    chmodSync(cwd, 0o555)
    // Root may write everywhere but where the kernel itself keeps the files.
    const dir = process.getuid?.() === 0 ? '/sys/lab' : 'lab'
    const { code, stdout, stderr } = await runMain(['init', dir], { cwd })
    chmodSync(cwd, 0o755)
    expect({ code, stdout }).toEqual({ code: 1, stdout: '' })
    expect(stderr).toMatch(/^FILE_FAILED\n {2}cannot write .*lab.*\n {2}fix: /)
  })

  it('says nothing but the result under --quiet (CLI-2)', async () => {
    const cwd = fresh()
    expect(await runMain(['init', 'lab', '--quiet'], { cwd })).toEqual({
      code: 0,
      stdout: expect.stringMatching(/^made a project in lab: \d+ files\n$/),
      stderr: '',
    })
  })
})

describe('new-experiment', () => {
  const project = async () => {
    const cwd = fresh()
    await runMain(['init'], { cwd })
    return cwd
  }

  it('adds an experiment that validates deeply (CLI-1)', async () => {
    const cwd = await project()
    const made = await runMain(['new-experiment', 'focal-loss', '--date', '20260131'], { cwd })
    expect({ code: made.code, stderr: made.stderr }).toEqual({ code: 0, stderr: '' })
    await expect(made.stdout).toMatchFileSnapshot('golden/new-experiment.txt')
    const config = 'experiments/20260131-focal-loss/config.yaml'
    await expect(readFileSync(join(cwd, config), 'utf8')).toMatchFileSnapshot('golden/new-experiment-config.yaml')
    const program = readFileSync(join(cwd, 'experiments/20260131-focal-loss/run.ts'), 'utf8')
    await expect(program).toMatchFileSnapshot('golden/new-experiment-run.txt')
    const checked = await runMain(['validate', config, '--deep'], { cwd })
    expect({ code: checked.code, stderr: checked.stderr }).toEqual({ code: 0, stderr: '' })
    expect(readdirSync(join(cwd, 'experiments/20260131-focal-loss'))).toEqual(['README.md', 'config.yaml', 'run.ts'])
  })

  it('finds the project from below and takes --project (CLI-1)', async () => {
    const cwd = await project()
    const { stdout } = await runMain(['new-experiment', 'a', '--date', '20260101', '--json'], {
      cwd: join(cwd, 'data/val'),
    })
    expect(JSON.parse(stdout)).toEqual({
      project: cwd,
      created: ['config.yaml', 'run.ts', 'README.md'].map((name) => `experiments/20260101-a/${name}`),
    })
    const other = await runMain(['new-experiment', 'b', '--project', cwd], { cwd: folder })
    expect(other.code).toBe(0)
  })

  it('uses the day of today (CLI-1)', async () => {
    const cwd = await project()
    await runMain(['new-experiment', 'today'], { cwd })
    const names = readdirSync(join(cwd, 'experiments'))
    expect(names).toContainEqual(expect.stringMatching(/^20\d{6}-today$/))
  })

  it('refuses a folder that exists, and leaves it as it is (CLI-1)', async () => {
    const cwd = await project()
    const args = ['new-experiment', 'twice', '--date', '20260101']
    await runMain(args, { cwd })
    const before = snapshot(cwd)
    const { code, stderr } = await runMain(args, { cwd })
    expect(code).toBe(2)
    expect(stderr).toMatch(/^PROJECT_EXISTS\n/)
    expect(snapshot(cwd)).toEqual(before)
  })

  it('lets one of two at the same time win (CLI-1)', async () => {
    const cwd = await project()
    const args = ['new-experiment', 'race', '--date', '20260101']
    const results = await Promise.all([runMain(args, { cwd }), runMain(args, { cwd })])
    expect(results.map(({ code }) => code).sort()).toEqual([0, 2])
    expect(readdirSync(join(cwd, 'experiments/20260101-race'))).toEqual(['README.md', 'config.yaml', 'run.ts'])
  })

  it.each([
    ['Focal Loss', 'focal-loss'],
    ['größe', 'gro'],
    ['../evil', 'evil'],
    ['a/b', 'a-b'],
    ['-x', 'x'],
    ['x--y', 'x-y'],
    ['', ''],
    ['!!!', ''],
    ['x'.repeat(81), 'x'.repeat(80)],
  ])('refuses the slug %j and offers %j (CLI-1)', async (slug, offer) => {
    const cwd = await project()
    const { code, stderr } = await runMain(['new-experiment', '--', slug], { cwd })
    expect(code).toBe(2)
    expect(stderr).toMatch(/^CLI_USAGE\n/)
    if (offer !== '') expect(stderr).toContain(`: ${offer}`)
    expect(readdirSync(join(cwd, 'experiments'))).toEqual(['quickstart'])
  })

  it('needs a project (CLI-1)', async () => {
    const { code, stderr } = await runMain(['new-experiment', 'x'], { cwd: fresh() })
    expect(code).toBe(2)
    expect(stderr).toMatch(/^PROJECT_MISSING\n.*\n {2}fix: .*evsys init/)
    const wrong = await runMain(['new-experiment', 'x', '--project', 'nowhere'], { cwd: fresh() })
    expect(wrong.code).toBe(2)
    expect(wrong.stderr).toMatch(/^PROJECT_MISSING\n/)
  })
})
