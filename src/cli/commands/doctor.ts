// `evsys doctor`: what this machine has, what it lacks, what that would give and how to get it. Only what evsys cannot work
// without makes it fail.
import { visibleText } from '../../kernel/index.ts'
import type { CommandContext } from '../command-context.ts'
import type { Check } from '../doctor/check.ts'
import { engineCheck } from '../doctor/engine-check.ts'
import { machineChecks } from '../doctor/machine-checks.ts'
import { projectChecks } from '../doctor/project-checks.ts'
import { sandboxCheck } from '../doctor/sandbox-check.ts'
import { toolChecks } from '../doctor/tool-checks.ts'
import { type ExitCode, exitCodes } from '../exit-code.ts'
import { wrap } from '../output/table.ts'

export async function doctor(context: CommandContext): Promise<ExitCode> {
  const checks = await context.holding('the checks of this machine', async () => [
    ...machineChecks(),
    await engineCheck(context),
    await sandboxCheck(),
    ...(await projectChecks(context)),
    ...(await toolChecks(context)),
  ])
  const broken = checks.filter(({ required, status }) => required && status !== 'ok')
  context.output.result({ ok: broken.length === 0, checks }, () => reportText(checks, broken.length, context.output))
  return broken.length === 0 ? exitCodes.done : exitCodes.failed
}

const labels = { ok: 'ok     ', missing: 'missing', broken: 'broken ' } as const

function reportText(
  checks: readonly Check[],
  broken: number,
  { colors, width, quiet }: CommandContext['output'],
): string {
  const paint = { ok: colors.green, missing: colors.yellow, broken: colors.red }
  const nameWidth = Math.max(...checks.map(({ name }) => name.length))
  const indent = ' '.repeat(labels.ok.length + nameWidth + 4)
  const lines = checks.flatMap(({ name, status, found, gives, get, required }) => {
    const color = status !== 'ok' && required ? colors.red : paint[status]
    const text = wrap(visibleText(found), width - indent.length).join(`\n${indent}`)
    const head = `${color(labels[status])}  ${name.padEnd(nameWidth)}  ${text}`
    if (status === 'ok' || quiet) return [head]
    const advice = [...(gives === undefined ? [] : [`for: ${gives}`]), ...(get === undefined ? [] : [`get: ${get}`])]
    return [head, ...advice.flatMap((line) => wrap(line, width - indent.length)).map((line) => indent + line)]
  })
  const absent = checks.filter(({ status, required }) => status !== 'ok' && !required).length
  const verdict =
    broken > 0
      ? colors.red(`${broken} required ${broken === 1 ? 'part does' : 'parts do'} not work`)
      : colors.green('everything required works')
  return `${lines.join('\n')}\n\n${verdict}${absent > 0 ? `; ${absent} optional ${absent === 1 ? 'part is' : 'parts are'} not there` : ''}`
}
