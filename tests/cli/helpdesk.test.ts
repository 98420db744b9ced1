// The guide from a CSV to a served model, command by command, with the smallest model and two steps a run.
import { cpSync, existsSync, mkdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { codeBlocks } from '../readme.ts'
import { runCommand } from '../run-command.ts'
import { temporaryFolders } from '../temporary-folder.ts'
import { root, runMain } from './run-main.ts'
import { serving } from './serving.ts'

const folder = temporaryFolders()
const guide = readFileSync(join(root, 'docs/guides/helpdesk.md'), 'utf8')
const commands = codeBlocks(guide, 'sh').flatMap((block) => block.match(/^evsys .*/gm) ?? [])

describe('the help desk', { timeout: 300_000 }, () => {
  it('has data that its scripts make (USE-315)', async () => {
    const at = (path: string) => join(root, 'examples/helpdesk', path)
    const { makeData } = await import(at('make-data.mjs'))
    const { answers } = await import(at('linear.mjs'))
    const files: Record<string, string> = { ...makeData(), 'data/linear.csv': answers() }
    expect(Object.keys(files)).toHaveLength(5)
    for (const [path, text] of Object.entries(files)) expect(readFileSync(at(path), 'utf8')).toBe(text)
  })

  it('goes from a CSV to a served model and to the next month by the commands of its guide (USE-315)', async () => {
    const cwd = join(folder(), 'helpdesk')
    cpSync(join(root, 'examples/helpdesk'), cwd, { recursive: true })
    mkdirSync(join(cwd, '.evsys'))
    expect((await runCommand(process.execPath, ['linear.mjs'], { cwd })).status).toBe(0)
    const evsys = async (args: readonly string[]) => {
      const { code, stdout, stderr } = await runMain(args, { cwd })
      expect({ code, stderr: code === 0 ? '' : stderr }, args.join(' ')).toEqual({ code: 0, stderr: '' })
      return stdout
    }
    const small = ['--set', 'model.name=evsys/nano', '--set', 'n_repeats=1', '--steps', '2', '--json']
    const results: Record<string, { status: string; arms: { name: string }[]; claims?: unknown[] }> = {}
    for (const command of commands) {
      const [action = '', ...args] = command.replace('evsys ', '').split(' ')
      if (action === 'serve') {
        const { url, end } = await serving(cwd, ...args)
        const answer = await fetch(`${url}/v1/chat/completions`, {
          method: 'POST',
          headers: { 'content-type': 'application/json' },
          body: /-d '(\{.*?\})' *$/ms.exec(guide)?.[1] ?? '',
        })
        expect([answer.status, await answer.json()]).toMatchObject([
          200,
          { model: 'helpdesk/deduped', choices: [{ message: { role: 'assistant' } }] },
        ])
        expect(await end()).toBe(130)
      } else if (action === 'run') {
        const { checkpoints } = JSON.parse(await evsys(['checkpoint', 'list', '--json']))
        const state = checkpoints.find((each: { kind: string; run: string }) => {
          return each.kind === 'state' && each.run.startsWith('helpdesk/deduped')
        })
        const filled = args.map((arg) => arg.replace('PATH', state?.ref))
        results[args[0] ?? ''] = JSON.parse(await evsys([action, ...filled, ...small]))
      } else await evsys([action, ...args])
    }
    expect(Object.entries(results).map(([file, { status, arms }]) => [file, status, arms.length])).toEqual([
      ['experiment.yaml', 'completed', 5],
      ['tune.yaml', 'completed', 4],
      ['may.yaml', 'completed', 1],
    ])
    expect(results['experiment.yaml']?.claims).toHaveLength(5)
    const report = readFileSync(join(cwd, 'helpdesk.html'), 'utf8')
    for (const text of ['deduped', 'linear', 'april', 'f1:returns']) expect(report).toContain(text)
    expect(existsSync(join(cwd, '.evsys/datasets'))).toBe(true)
  })
})
