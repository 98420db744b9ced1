import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { root, runMain } from './run-main.ts'

const commands = [
  ...['init', 'new-experiment', 'doctor', 'validate', 'list', 'schema', 'completion'],
  ...['run', 'history', 'show', 'compare', 'conclude', 'invalidate', 'repro'],
  ...['export', 'import', 'gc', 'du', 'db'],
  ...['eval', 'benchmark', 'rescore'],
  ...['research'],
  ...['serve', 'checkpoint', 'engine'],
  'task',
]
const { version } = JSON.parse(readFileSync(`${root}package.json`, 'utf8'))

describe('help', () => {
  it('lists the commands and the exit codes (CLI-3, CLI-4)', async () => {
    const { code, stdout, stderr } = await runMain(['--help'])
    expect(code).toBe(0)
    expect(stderr).toBe('')
    await expect(stdout).toMatchFileSnapshot('golden/help.txt')
  })

  it.each(commands)('of %s shows examples (CLI-4)', async (command) => {
    const { code, stdout } = await runMain([command, '--help'])
    expect(code).toBe(0)
    expect(stdout.match(/^ {2}\$ /gm)?.length ?? stdout.match(/^ {2}\$? ?e/gm)?.length).toBeGreaterThanOrEqual(2)
    await expect(stdout).toMatchFileSnapshot(`golden/help-${command}.txt`)
  })

  it.each(commands)('is the same as `help %s` and does not depend on where options stand (CLI-4)', async (command) => {
    const { stdout } = await runMain([command, '--help'])
    expect((await runMain(['help', command])).stdout).toBe(stdout)
    expect((await runMain(['--quiet', command, '-h'])).stdout).toBe(stdout)
  })

  it('is found for commands below a command, and for the actions of one (USE-293)', async () => {
    const { stdout } = await runMain(['research', 'run', '--help'])
    expect(await runMain(['help', 'research', 'run'])).toEqual({ code: 0, stdout, stderr: '' })
    expect((await runMain(['help', 'benchmark', 'run'])).stdout).toBe((await runMain(['benchmark', '--help'])).stdout)
    const wrong = await runMain(['help', 'research', 'rum'])
    expect([wrong.code, wrong.stderr]).toEqual([2, expect.stringContaining('did you mean "run"')])
  })

  it('is what an empty command line gets (CLI-4)', async () => {
    const { stdout } = await runMain(['--help'])
    expect(await runMain([])).toEqual({ code: 0, stdout, stderr: '' })
    expect(await runMain(['help'])).toEqual({ code: 0, stdout, stderr: '' })
  })

  it('is one document under --json (CLI-2)', async () => {
    const { stdout } = await runMain(['--help'])
    expect(JSON.parse((await runMain(['--json', '--help'])).stdout)).toEqual({ help: stdout.trimEnd() })
    expect(JSON.parse((await runMain(['--json'])).stdout)).toEqual({ help: stdout.trimEnd() })
  })

  it('fits the terminal (CLI-4)', async () => {
    const { stdout } = await runMain(['validate', '--help'], { columns: 80, env: { NO_COLOR: '1' } })
    const [options = ''] = stdout.split('Examples:')
    for (const line of options.split('\n')) expect(line.length).toBeLessThanOrEqual(80)
  })

  it('is coloured on a terminal alone (CLI-2)', async () => {
    const color = '\u001b['
    expect((await runMain(['--help'], { columns: 100 })).stdout).toContain(color)
    expect((await runMain(['--help'])).stdout).not.toContain(color)
    expect((await runMain(['--help'], { columns: 100, env: { NO_COLOR: '1' } })).stdout).not.toContain(color)
    expect((await runMain(['--help'], { env: { FORCE_COLOR: '1' } })).stdout).toContain(color)
    expect((await runMain(['--help', '--json'], { columns: 100 })).stdout).not.toContain('u001b')
  })
})

describe('--version', () => {
  it.each([[['--version']], [['-V']], [['--quiet', '--version']], [['validate', '--version']]])(
    'prints the version: %j (CLI-4)',
    async (args) => {
      expect(await runMain(args)).toEqual({ code: 0, stdout: `${version}\n`, stderr: '' })
    },
  )

  it('is one document under --json (CLI-2)', async () => {
    expect(JSON.parse((await runMain(['--json', '--version'])).stdout)).toEqual({ version })
  })
})
