// The guide from a CSV to a served model, command by command, with the smallest model, three steps a run, and ten questions a benchmark.
import { cpSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
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

  it('goes from a CSV to a served model and to the next month by the commands of its guide (USE-315, USE-318)', async () => {
    const cwd = join(folder(), 'helpdesk')
    cpSync(join(root, 'examples/helpdesk'), cwd, { recursive: true })
    mkdirSync(join(cwd, '.evsys'))
    for (const name of ['val', 'april']) shorten(join(cwd, 'data', `${name}.csv`))
    expect((await runCommand(process.execPath, ['linear.mjs'], { cwd })).status).toBe(0)
    const evsys = async (args: readonly string[]) => {
      const { code, stdout, stderr } = await runMain(args, { cwd })
      expect({ code, stderr: code === 0 ? '' : stderr }, args.join(' ')).toEqual({ code: 0, stderr: '' })
      return stdout
    }
    const small = ['--set', 'model.name=evsys/nano', '--set', 'n_repeats=1', '--steps', '3', '--json']
    const results: Record<string, { status: string; arms: { name: string }[]; claims?: unknown[] }> = {}
    const printed: Record<string, string> = {}
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
        if (args[0] === 'tune.yaml') continue // four more of the same; examples.test.ts checks the file
        results[args[0] ?? ''] = JSON.parse(await evsys([action, ...args, ...small]))
      } else printed[action] = await evsys([action, ...args])
    }
    expect(Object.entries(results).map(([file, { status, arms }]) => [file, status, arms.length])).toEqual([
      ['experiment.yaml', 'completed', 5],
      ['may.yaml', 'completed', 1],
    ])
    expect(results['experiment.yaml']?.claims).toHaveLength(6)
    const report = readFileSync(join(cwd, 'helpdesk.html'), 'utf8')
    const shown = ['deduped', 'linear', 'april', 'per_class', 'returns', 'confusion', 'Wrong answers', 'Curves']
    for (const text of shown) expect(report.includes(text), text).toBe(true)
    expect(printed.next).toMatch(/decide whether/)
    expect(existsSync(join(cwd, '.evsys/datasets'))).toBe(true)
  })
})

/** Leaves two tickets of each desk. */
function shorten(path: string): void {
  const [head = '', ...rows] = readFileSync(path, 'utf8').trimEnd().split('\n')
  const desks = new Map<string, number>()
  const kept = rows.filter((row) => {
    const desk = row.slice(row.lastIndexOf(',') + 1)
    desks.set(desk, (desks.get(desk) ?? 0) + 1)
    return (desks.get(desk) ?? 0) <= 2
  })
  writeFileSync(path, `${[head, ...kept].join('\n')}\n`)
}
