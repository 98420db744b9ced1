import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { temporaryFolders } from '../temporary-folder.ts'
import { runMain } from './run-main.ts'

const folder = temporaryFolders()
const run = (cwd: string, ...args: string[]) =>
  runMain(['research', ...args, '--task', 'table-search'], { cwd, env: {} })

describe('research run', () => {
  it('begins in any folder, with no key, and ends with a best and the next step (RES-619)', async () => {
    const cwd = folder()
    const { code, stdout, stderr } = await run(cwd, 'run', '--max-experiments', '6')
    expect(code).toBe(0)
    expect(stderr).toContain(`the record of this session is kept in ${join(cwd, '.evsys')}`)
    expect(`${stdout}${stderr}`).toMatch(/6 experiments, \d kept/)
    expect(`${stdout}${stderr}`).toContain('next: evsys research report --task table-search')
    expect(existsSync(join(cwd, '.evsys', 'evsys.db'))).toBe(true)
    const status = await run(cwd, 'status')
    expect(status.code).toBe(0)
    expect(status.stdout).toContain('table-search')
  })

  it('is one document under --json, and goes on when its cap is raised (RES-619)', async () => {
    const cwd = folder()
    const first = await run(cwd, '--json', 'run', '--max-experiments', '2')
    expect(first.code).toBe(0)
    const { experiment_id: id } = JSON.parse(first.stdout)
    expect(id).toMatch(/^exp_/)
    const more = await run(cwd, '--json', 'run', '--max-experiments', '4', '--resume')
    expect(more.code).toBe(0)
    expect(JSON.parse(more.stdout).experiment_id).toBe(id)
  })

  it('lets no secret of the project or the environment into a brief (RES-624)', async () => {
    const cwd = folder()
    const secret = 'tr0ub4dor-correct-horse'
    mkdirSync(join(cwd, 'src', 'plugins'), { recursive: true })
    writeFileSync(join(cwd, 'evsys.yaml'), 'name: p\n')
    writeFileSync(join(cwd, '.env'), `WANDB_API_KEY=${secret}\nDEBUG=true\n`)
    const spy = `import { appendFileSync } from 'node:fs'
import { defineProposer } from 'evsys/plugin'
export default [defineProposer({ kind: 'spy', summary: 'Writes down what it is told.', async propose(brief) {
  appendFileSync(${JSON.stringify(join(cwd, 'told'))}, brief.text + brief.redact('${secret} by-value-too'))
  return { ideas: [] }
} })]
`
    writeFileSync(join(cwd, 'src', 'plugins', 'spy.ts'), spy)
    const env = { SESSION_TOKEN: 'by-value-too' }
    const ask = (...args: string[]) => runMain(['research', ...args, '--task', 'table-search'], { cwd, env })
    const first = await ask('run', '--max-experiments', '1', '--proposer', 'spy')
    expect(first.stdout).toContain('The proposer has nothing new')
    await ask('steer', 'add-idea', `log in with ${secret}, true to ${Buffer.from(secret).toString('base64')}`)
    await ask('run', '--max-experiments', '2', '--resume')
    const told = readFileSync(join(cwd, 'told'), 'utf8')
    expect(told).toContain('log in with [secret:WANDB_API_KEY], true to [secret:WANDB_API_KEY]')
    expect(told).toContain('[secret:SESSION_TOKEN]')
    expect(told).not.toContain('horse')
  })

  it('a model that nothing would ask is refused before anything is measured (USE-297)', async () => {
    const cwd = folder()
    const words = [
      'research',
      'run',
      '--task',
      'table-search',
      '--max-experiments',
      '2',
      '--model',
      'claude-sonnet-4-6',
    ]
    const { code, stdout } = await runMain([...words, '--json'], { cwd, env: {} })
    expect([code, JSON.parse(stdout).errors]).toMatchObject([
      2,
      [{ message: expect.stringContaining('no model would be asked'), fix: expect.stringContaining('--model') }],
    ])
    const other = await runMain([...words, '--proposer', 'optimizer', '--json'], { cwd, env: {} })
    expect(other.code).toBe(2)
  })

  it('a proposer without its key is told before anything is measured (RES-629)', async () => {
    const cwd = folder()
    const { code, stdout } = await run(cwd, '--json', 'run', '--proposer', 'anthropic')
    expect(code).toBe(2)
    expect(JSON.parse(stdout).errors).toMatchObject([
      { code: 'SECRET_MISSING', fix: expect.stringContaining('--proposer optimizer') },
    ])
    expect((await run(cwd, 'status')).code).not.toBe(0) // no session is left behind
  })

  it('says what is wrong with a name or a cap before anything starts (RES-619)', async () => {
    const cwd = folder()
    const unknown = await runMain(['research', 'run', '--task', 'no-such'], { cwd, env: {} })
    expect(unknown.code).toBe(2)
    expect(unknown.stderr).toMatch(/no-such/)
    const cap = await run(cwd, 'run', '--budget', 'usd=-1')
    expect(cap.code).toBe(2)
    for (const [word, fault] of [
      ['usd', '"" is no amount for the cap usd'],
      ['hours=2', 'there is no cap "hours"'],
      ['wall=soon', '"soon" is no amount for the cap wall'],
    ] as const)
      expect((await run(cwd, 'run', '--budget', word)).stderr).toContain(fault)
    const strategy = await run(cwd, 'run', '--strategy', 'gredy')
    expect(strategy).toMatchObject({ code: 2, stderr: expect.stringContaining('did you mean "greedy"') })
    // It left no session behind that --resume would take up.
    expect((await run(cwd, 'status')).stderr).toContain('no research session')
    const proposer = await run(cwd, 'run', '--proposer', 'nobody')
    expect(proposer.code).toBe(2)
    expect(proposer.stderr).toMatch(/optimizer/)
  })
})
