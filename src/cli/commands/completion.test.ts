import { describe, expect, it } from 'vitest'
import { plainColors } from '../output/colors.ts'
import { createProgram } from '../program.ts'
import { completionsFor } from './completion.ts'

const program = createProgram(async () => {}, { width: 100, colors: plainColors, write: () => {} })

async function offered(...line: string[]): Promise<string[]> {
  return (await completionsFor(program, line)).candidates.map(({ value }) => value)
}

describe('completionsFor', () => {
  it.each([
    [['sch'], ['schema']],
    [['--json', 'sch'], ['schema']],
    [['--project', 'somewhere', 'sch'], ['schema']],
    [['--project', 'sch'], []],
    [['validate', '--se'], ['--set']],
    [['validate', '--set', 'a=1', '--se'], ['--set']],
    [['validate', '--deep', '--de'], []],
    [['validate', '--steps', ''], []],
    [['--q'], ['--quiet']],
    [
      ['list', 'tra'],
      ['transforms', 'trace_sources'],
    ],
    [['list', 'transforms', ''], []],
    [['schema', 'ta'], ['task']],
    [['schema', 'algorithm', 'sf'], ['sft']],
    [['schema', 'experiment', ''], []],
    [['help', 'do'], ['doctor']],
    [['completion', 'z'], ['zsh']],
    [['nonsense', 'x', ''], []],
    [
      ['research', 'b'],
      ['baseline', 'bench'],
    ],
    [['research', 'run', '--max'], ['--max-experiments']],
    [['research', 'run', '--budget', 'usd=1', '--budg'], ['--budget']],
    [
      ['research', 'run', '--preset', ''],
      ['explore', 'balanced', 'strict'],
    ],
    [
      ['research', 'run', '--strategy', 'gr'],
      ['greedy', 'greedy-dedup'],
    ],
    [['research', 'run', '--proposer', 'cli'], ['cli-agent']],
    [['research', 'run', '--model', ''], []],
    [['research', 'run', ''], []],
    [['research', 'steer', 'pa'], ['pause']],
    [['research', 'run', 'st'], []],
    [['--json', 'research', 'sta'], ['status']],
    [['task', 'in'], ['init']],
    [['task', 'validate', 'dig'], ['digits']],
    [['task', 'init', 'dig'], []],
    [['research', 'run', '--task', 'mo'], ['moby']],
    [['research', 'nonsense', ''], []],
    [['validate', '--', '--de'], []],
  ])('completes %j to %j (CLI-7)', async (line, values) => {
    expect(await offered(...line)).toEqual(values)
  })

  it('offers every command, and no hidden one, to an empty word (CLI-7)', async () => {
    const commands = await offered('')
    expect(commands).toContain('init')
    expect(commands).not.toContain('complete')
    expect(await offered()).toEqual(commands)
  })

  it('tells the shell which files fit (CLI-7)', async () => {
    expect((await completionsFor(program, ['validate', ''])).files).toEqual(['files', 'yaml', 'yml'])
    expect((await completionsFor(program, ['init', ''])).files).toEqual(['dirs'])
    expect((await completionsFor(program, ['--project', ''])).files).toEqual(['dirs'])
    expect((await completionsFor(program, ['list', ''])).files).toEqual(['none'])
    expect((await completionsFor(program, ['research', 'bench', '--tables', ''])).files).toEqual(['dirs'])
    expect((await completionsFor(program, ['research', 'report', '-o', ''])).files).toEqual(['files'])
  })
})
