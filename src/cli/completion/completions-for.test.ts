import { describe, expect, it } from 'vitest'
import { plainColors } from '../output/colors.ts'
import { createProgram } from '../program.ts'
import { completionsFor } from './completions-for.ts'

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
  })
})
