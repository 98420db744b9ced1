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
/** Every line that the guide has people type; those of one command, in quotes over several lines, are one. */
const commands = codeBlocks(guide, 'sh').flatMap((block) => block.trim().split(/\n(?=[a-z])/))

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
    const evsys = async (args: readonly string[]) => {
      const { code, stdout, stderr } = await runMain(args, { cwd })
      expect({ code, stderr: code === 0 ? '' : stderr }, args.join(' ')).toEqual({ code: 0, stderr: '' })
      return stdout
    }
    const small = ['--set', 'model.name=evsys/nano', '--set', 'n_repeats=1', '--steps', '3', '--json']
    const results: Record<string, { status: string; arms: { name: string }[]; claims?: unknown[] }> = {}
    const printed: Record<string, string> = {}
    let server: Awaited<ReturnType<typeof serving>> | undefined
    for (const command of commands) {
      const [program, action = '', ...args] = command.split(' ')
      if (program === 'node') {
        expect((await runCommand(process.execPath, [action, ...args], { cwd })).status, command).toBe(0)
      } else if (program === 'curl') {
        // What curl sends, to any free port in place of the usual one: not every machine has curl.
        const [, path = '', type = '', body = ''] =
          /^curl -s http:\/\/127\.0\.0\.1:10600(\S+) -H 'content-type: (\S+)' -d '(.*)'$/s.exec(command) ?? []
        const asked = { method: 'POST', headers: { 'content-type': type }, body }
        const answer = await fetch(`${server?.url}${path}`, asked)
        expect([answer.status, await answer.json()], command).toMatchObject([
          200,
          { model: 'helpdesk/deduped', choices: [{ message: { role: 'assistant' } }] },
        ])
        expect(await server?.end()).toBe(130)
        server = undefined
      } else if (program !== 'evsys') throw new Error(`the guide has a command that is not run here: ${command}`)
      else if (action === 'serve') server = await serving(cwd, ...args)
      else if (action === 'run') results[args[0] ?? ''] = JSON.parse(await evsys([action, ...args, ...small]))
      else printed[command] = await evsys([action, ...args])
    }
    expect(server, 'the server was asked and ended').toBeUndefined()
    expect(Object.entries(results).map(([file, { status, arms }]) => [file, status, arms.length])).toEqual([
      ['experiment.yaml', 'completed', 5],
      ['tune.yaml', 'completed', 4],
      ['may.yaml', 'completed', 1],
    ])
    expect(results['experiment.yaml']?.claims).toHaveLength(6)
    expect(results['experiment.yaml']?.claims).toContainEqual(
      expect.objectContaining({ benchmark: 'april', baseline_benchmark: 'val' }),
    )
    const report = readFileSync(join(cwd, 'helpdesk.html'), 'utf8')
    const shown = ['deduped', 'linear', 'april', 'per_class', 'returns', 'confusion', 'Wrong answers', 'Curves']
    for (const text of shown) expect(report.includes(text), text).toBe(true)
    expect(printed['evsys next']).toMatch(/decide whether/)
    // Values of single tasks have a mix of classes; macro-F1 has none.
    const between = printed['evsys compare helpdesk/deduped@val helpdesk/deduped@april'] ?? ''
    expect(between.match(/^(?:macro_f1|accuracy):|not known: macro_f1 is no mean over tasks/gm)).toEqual([
      'macro_f1:',
      'not known: macro_f1 is no mean over tasks',
      'accuracy:',
    ])
    expect(existsSync(join(cwd, 'adapter/adapter_config.json'))).toBe(true)
    expect(existsSync(join(cwd, '.evsys/datasets'))).toBe(true)
    // The whole benchmarks, as the guide has them.
    cpSync(join(root, 'examples/helpdesk/data'), join(cwd, 'data'), { recursive: true })
    await evsys(['validate', 'may.yaml', '--deep', '--set', 'model.name=evsys/nano'])
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
