// Runs the console blocks of a page: every `$ evsys ...` line, in order, in one folder, compared with the lines below it.
// `...` stands for any text, and alone on a line for any lines. A comment may change a file between blocks:
// <!-- edit FILE: "this" becomes "that" -->

import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect } from 'vitest'
import { runMain } from './cli/run-main.ts'

/** Plays a page in an empty folder; fails at the first command that prints something else. */
export async function playConsole(markdown: string, folder: string): Promise<void> {
  let cwd = folder
  const steps = [...markdown.matchAll(/^```console\n(.*?)^```$|^<!-- edit (.*?): "(.*?)" becomes "(.*?)" -->$/gms)]
  expect(steps.length).toBeGreaterThan(0)
  for (const [, block, file, before, after] of steps) {
    if (block === undefined) editFile(join(cwd, file ?? ''), before ?? '', after ?? '')
    else for (const command of commandsIn(block)) cwd = await play(command, cwd)
  }
}

interface ShownCommand {
  line: string
  output: string
}

function commandsIn(block: string): ShownCommand[] {
  return block
    .split(/^\$ /m)
    .slice(1)
    .map((text) => {
      const [line = '', ...output] = text.trimEnd().split('\n')
      return { line, output: output.join('\n') }
    })
}

async function play({ line, output }: ShownCommand, cwd: string): Promise<string> {
  const [program, ...args] = line.split(' ')
  if (program === 'cd') return join(cwd, args[0] ?? '')
  expect(program).toBe('evsys')
  const { stdout, stderr } = await runMain(args, { cwd })
  const printed = `${stdout}${stderr}`.trimEnd()
  if (!patternOf(output).test(printed)) expect(printed, `$ ${line}`).toBe(output)
  return cwd
}

function patternOf(output: string): RegExp {
  const source = output
    .split('\n')
    .map((line) => (line === '...' ? '(?:.*\n)*?.*' : line.split('...').map(escapePattern).join('.*')))
    .join('\n')
  return new RegExp(`^${source}$`)
}

function escapePattern(text: string): string {
  return text.replace(/[.*+?^${}()|[\]\\]/g, '\\$&')
}

function editFile(file: string, before: string, after: string): void {
  const text = readFileSync(file, 'utf8')
  expect(text).toContain(before)
  writeFileSync(file, text.replace(before, after))
}
