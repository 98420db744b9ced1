import { describe, expect, it } from 'vitest'
import { ErrorReport } from '../../src/contracts/index.ts'
import { runMain } from './run-main.ts'

describe('a command line that cannot be understood', () => {
  it.each([
    ['unknown-command', ['valdate', 'x.yaml']],
    ['unknown-option', ['validate', 'x.yaml', '--deeep']],
    ['unknown-option-before-command', ['--jsn', 'list']],
    ['missing-argument', ['validate']],
    ['extra-argument', ['doctor', 'now']],
    ['bad-steps', ['validate', 'x.yaml', '--steps', 'many']],
    ['missing-option-value', ['validate', 'x.yaml', '--set']],
    ['bad-date', ['new-experiment', 'x', '--date', '20260230']],
    ['unknown-help', ['help', 'valdate']],
    ['unknown-shell', ['completion', 'bsh']],
    ['unknown-kind', ['list', 'algoritms']],
    ['unknown-schema', ['schema', 'experimnt']],
    ['no-command', ['--project', '.']],
    ['hidden-is-no-suggestion', ['complet']],
  ])('is explained: %s (CLI-3, CLI-4)', async (name, args) => {
    const { code, stdout, stderr } = await runMain(args)
    expect(code).toBe(2)
    expect(stdout).toBe('')
    await expect(stderr).toMatchFileSnapshot(`golden/usage-${name}.txt`)
  })

  it.each([[['valdate']], [['validate', 'x', '--deeep']], [['validate']], [['list', 'nope']], [['help', 'nope']]])(
    'is one document under --json: %j (CLI-2, CLI-4)',
    async (args) => {
      for (const line of [
        [...args, '--json'],
        ['--json', ...args],
      ]) {
        const { code, stdout, stderr } = await runMain(line)
        expect(code).toBe(2)
        expect(stderr).toBe('')
        expect(ErrorReport.parse(JSON.parse(stdout)).errors).toMatchObject([{ code: 'CLI_USAGE' }])
      }
    },
  )

  it('takes what follows -- as words, not options (CLI-4)', async () => {
    const { code, stderr } = await runMain(['list', '--', '--json'])
    expect(code).toBe(2)
    expect(stderr).toContain('there is no plugin type "--json"')
  })
})
