import { mkdirSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { PluginType } from '../../src/contracts/index.ts'
import { temporaryFolders } from '../temporary-folder.ts'
import { root, runMain } from './run-main.ts'

const folder = temporaryFolders()
const example = join(root, 'examples/custom-plugins')

function projectWith(plugins: Record<string, string>): string {
  const dir = folder()
  for (const [name, text] of Object.entries({ '.evsys/.gitignore': '*', ...plugins })) {
    mkdirSync(dirname(join(dir, name)), { recursive: true })
    writeFileSync(join(dir, name), text)
  }
  return dir
}

const shadow = `import { defineTransform } from 'evsys/plugin'
export default defineTransform({ kind: 'dedupe', summary: 'Ours.', async *run(rows) { yield* rows } })
`

describe('list', () => {
  it('describes the built-in plugins, by type (CLI-5)', async () => {
    const { code, stdout, stderr } = await runMain(['list'], { cwd: folder() })
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
    await expect(stdout).toMatchFileSnapshot('golden/list.txt')
  })

  it('shows the plugins of the project beside them, with their file (CLI-5)', async () => {
    const { stdout } = await runMain(['list', 'transforms'], { cwd: example })
    expect(stdout).toMatch(/^ {2}dedupe +\S.* {2}built-in$/m)
    expect(stdout).toMatch(/^ {2}dedupe_by_intent +Keeps the first few rows .* {2}src\/plugins\/dedupe-by-intent\.ts$/m)
  })

  it('finds the project from below and by --project (CLI-5)', async () => {
    const { stdout } = await runMain(['list'], { cwd: example })
    expect((await runMain(['list'], { cwd: join(example, 'data/val') })).stdout).toBe(stdout)
    expect((await runMain(['list', '--project', example], { cwd: folder() })).stdout).toBe(stdout)
  })

  it.each(['transform', 'transforms', 'Transforms', 'data-source', 'data_sources', 'strategies', 'strategy'])(
    'takes %s (CLI-5)',
    async (word) => {
      expect((await runMain(['list', word], { cwd: folder() })).code).toBe(0)
    },
  )

  it('says so when there is none (CLI-5)', async () => {
    expect((await runMain(['list', 'log-stores'], { cwd: folder() })).stdout).toBe('no log stores yet\n')
  })

  it('prints one document under --json (CLI-2, CLI-5)', async () => {
    const { stdout, stderr } = await runMain(['list', 'algorithms', '--json'], { cwd: example })
    expect(stderr).toBe('')
    expect(JSON.parse(stdout)).toEqual({
      plugins: [
        expect.objectContaining({ type: 'algorithm', kind: 'combo', origin: 'built-in' }),
        expect.objectContaining({ type: 'algorithm', kind: 'distill', origin: 'built-in' }),
        expect.objectContaining({ type: 'algorithm', kind: 'dpo', origin: 'built-in' }),
        expect.objectContaining({ type: 'algorithm', kind: 'focal_sft', origin: 'src/plugins/focal-sft.ts' }),
        expect.objectContaining({ type: 'algorithm', kind: 'opd', origin: 'built-in' }),
        expect.objectContaining({ type: 'algorithm', kind: 'prompt_search', origin: 'built-in' }),
        expect.objectContaining({ type: 'algorithm', kind: 'rejection_sft', origin: 'built-in' }),
        expect.objectContaining({ type: 'algorithm', kind: 'rl', origin: 'built-in' }),
        expect.objectContaining({ type: 'algorithm', kind: 'score_only', origin: 'built-in' }),
        expect.objectContaining({ type: 'algorithm', kind: 'sdft', origin: 'built-in' }),
        expect.objectContaining({ type: 'algorithm', kind: 'sft', origin: 'built-in' }),
      ],
      notices: [],
      errors: [],
    })
  })

  it('lists the rest when a plugin is broken, and exits with 2 (CLI-3, CLI-5)', async () => {
    const cwd = projectWith({ 'src/plugins/broken.ts': "throw new Error('no')\n", 'src/plugins/good.ts': shadow })
    const { code, stdout, stderr } = await runMain(['list', 'transforms'], { cwd })
    expect(code).toBe(2)
    expect(stdout).toMatch(/^ {2}dedupe +Ours\. +src\/plugins\/good\.ts$/m)
    expect(stderr).toContain('src/plugins/broken.ts:1:1  PLUGIN_LOAD')
    expect(stderr).toMatch(/\n1 problem in src\/plugins\/broken\.ts\n$/)
    const json = await runMain(['list', '--json'], { cwd })
    expect(json.code).toBe(2)
    expect(JSON.parse(json.stdout)).toMatchObject({
      errors: [{ code: 'PLUGIN_LOAD', where: { file: 'src/plugins/broken.ts' } }],
    })
  })

  it('tells what is shadowed (KER-1, CLI-5)', async () => {
    const { code, stderr } = await runMain(['list'], { cwd: projectWith({ 'src/plugins/good.ts': shadow }) })
    expect(code).toBe(0)
    expect(stderr).toBe('notice: transform "dedupe" of src/plugins/good.ts shadows the built-in\n')
  })
})

describe('the limit on loading', () => {
  it('comes from the environment and is checked (KER-5)', async () => {
    const cwd = projectWith({ 'src/plugins/slow.ts': 'while (true) {}\n' })
    const slow = await runMain(['list'], { cwd, env: { EVSYS_PLUGIN_TIMEOUT_MS: '200' } })
    expect(slow.code).toBe(2)
    expect(slow.stderr).toContain('it was stopped after 0.2 s')
    const wrong = await runMain(['list'], { cwd, env: { EVSYS_PLUGIN_TIMEOUT_MS: '20s' } })
    expect(wrong.stderr).toMatch(/^CLI_USAGE\n {2}EVSYS_PLUGIN_TIMEOUT_MS is "20s"\n {2}fix: /)
  })
})

describe('schema', () => {
  it('without a word lists what can be asked for (CLI-5)', async () => {
    const { code, stdout } = await runMain(['schema'], { cwd: example })
    expect(code).toBe(0)
    await expect(stdout).toMatchFileSnapshot('golden/schema.txt')
    const document = JSON.parse((await runMain(['schema', '--json'], { cwd: example })).stdout)
    expect(document.documents).toEqual(['experiment', 'task'])
    const recipes = [
      ...['combo', 'distill', 'dpo', 'focal_sft', 'opd', 'prompt_search', 'rejection_sft', 'rl', 'score_only'],
      ...['sdft', 'sft'],
    ]
    expect(document.plugins.algorithm).toEqual(recipes)
  })

  it.each(['experiment', 'task'])('prints the %s schema, as JSON in any case (CFG-13, CLI-5)', async (what) => {
    const { code, stdout, stderr } = await runMain(['schema', what], { cwd: folder() })
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
    expect(JSON.parse(stdout)).toMatchObject({ type: 'object', title: `evsys ${what}` })
    expect((await runMain(['schema', what, '--json'], { cwd: folder() })).stdout).toBe(stdout)
  })

  it('prints the params of a plugin, the project’s own alike (CLI-5)', async () => {
    const { stdout } = await runMain(['schema', 'verifier', 'intent_score'], { cwd: example })
    await expect(stdout).toMatchFileSnapshot('golden/schema-verifier.json')
    const sft = JSON.parse((await runMain(['schema', 'algorithms', 'sft'], { cwd: example })).stdout)
    expect(sft.properties.max_steps).toMatchObject({ type: 'integer', description: expect.any(String) })
  })

  it('leads from a member of a family to its schema (CLI-5)', async () => {
    const { code, stdout } = await runMain(['schema', 'metric', 'pass@3'], { cwd: folder() })
    expect(code).toBe(0)
    expect(JSON.parse(stdout).title).toBe('params of metric pass@{k}')
  })

  it.each([
    ['no-name', ['schema', 'verifier']],
    ['unknown-name', ['schema', 'verifier', 'exact_mach']],
    ['name-too-many', ['schema', 'experiment', 'matrix']],
  ])('explains %s (CLI-4, CLI-5)', async (name, args) => {
    const { code, stdout, stderr } = await runMain(args, { cwd: folder() })
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' })
    await expect(stderr).toMatchFileSnapshot(`golden/schema-${name}.txt`)
  })

  it('says that the plugin may be in a file that is broken (CLI-5)', async () => {
    const cwd = projectWith({ 'src/plugins/mine.ts': "throw new Error('no')\n" })
    const { code, stderr } = await runMain(['schema', 'verifier', 'mine'], { cwd })
    expect(code).toBe(2)
    expect(stderr).toContain('PLUGIN_UNKNOWN')
    expect(stderr).toContain('src/plugins/mine.ts:1:1  PLUGIN_LOAD')
  })
})

describe('completion', () => {
  it.each(['bash', 'zsh', 'fish', 'powershell'])('prints a script for %s (CLI-7)', async (shell) => {
    const { code, stdout } = await runMain(['completion', shell])
    expect(code).toBe(0)
    await expect(stdout).toMatchFileSnapshot(`golden/completion-${shell}.txt`)
    expect(JSON.parse((await runMain(['completion', shell, '--json'])).stdout)).toEqual({ shell, script: stdout })
  })

  it('answers the scripts with candidates, and with the files that fit (CLI-7)', async () => {
    const answer = async (...words: string[]) => (await runMain(['complete', '--', ...words])).stdout
    expect(await answer('doc')).toBe('doctor\treport what this machine has, what is missing and how to get it\n:none\n')
    expect(await answer('validate', '')).toBe(':files yaml yml\n')
    expect(await answer('init', '""')).toBe(':dirs\n')
    expect(await answer('list', 'verif')).toBe('verifiers\n:none\n')
    expect(await answer('schema', 'metric', 'pass')).toBe('pass@1\npass^1\npass_rate\n:none\n')
    for (const type of PluginType.options) expect(await answer('schema', type)).toContain(`${type}\n`)
  })
})
