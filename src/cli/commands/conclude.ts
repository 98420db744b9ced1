// `evsys conclude ID TEXT`: an author's word beside the computed conclusion, which stays as it is.
import { userInfo } from 'node:os'
import { EvsysError, systemClock } from '../../kernel/index.ts'
import { loadLab } from '../../lab/index.ts'
import { type CommandContext, type ExitCode, exitCodes } from '../context/command-context.ts'
import { withRecord } from '../context/project.ts'
import { readStdin } from '../context/read-stdin.ts'
import { armTable, verdictPaint } from '../output/experiment-text.ts'
import { type Fact, labelledLines } from '../output/table.ts'

const longestText = 100_000

export async function conclude(
  context: CommandContext,
  reference: string,
  word: string,
  options: { readonly author?: string | undefined },
): Promise<ExitCode> {
  const { output, env } = context
  const text = (word === '-' ? await readStdin(context) : word).trim()
  checkText(text)
  const author = authorOf(options.author ?? (env.EVSYS_AUTHOR || undefined))
  return await withRecord(context, {}, async ({ store, project }) => {
    const found = await store.findExperiment(reference)
    await store.verdicts.conclude(found.id, author, text)
    const experiment = await store.findExperiment(found.id)
    const [{ refreshFiles }, { conclusionLines }] = await Promise.all([loadLab(), import('../../record/index.ts')])
    await refreshFiles(store, experiment, project)
    const { id, name, verdict, conclusion, words } = experiment
    output.result({ experiment_id: id, name, verdict: verdict ?? null, conclusion: conclusion ?? null, words }, () => {
      const first = `${output.colors.green('noted')} beside the conclusion of ${name} (${id})`
      if (output.quiet) return first
      const facts: Fact[] = [
        verdict === undefined ? ['verdict', 'none yet'] : ['verdict', verdict, verdictPaint(verdict, output.colors)],
        ...optional('computed', conclusionLines(conclusion ?? '').join('\n')),
        ...words.map((each): Fact => [each.author, each.text]),
      ]
      return `${first}\n\n${labelledLines(facts, output)}`
    })
    return exitCodes.done
  })
}

function optional(label: string, text: string | undefined): Fact[] {
  return text === undefined ? [] : [[label, text]]
}

function checkText(text: string): void {
  if (text === '') throw new EvsysError('CLI_USAGE', 'the text is empty', { fix: 'say what you conclude, in quotes.' })
  if (text.length > longestText) {
    throw new EvsysError('CLI_USAGE', `the text has ${text.length} characters, more than ${longestText}`, {
      fix: 'say it shorter, and name a file for the rest.',
    })
  }
}

/** Who says something; absent: the user of this machine. */
export function authorOf(named: string | undefined): string {
  if (named === undefined) {
    try {
      return userInfo().username
    } catch {
      return 'author' // a system without users
    }
  }
  if (named.trim() !== '' && named.length <= 100 && !/\p{Cc}/u.test(named)) return named.trim()
  throw new EvsysError('CLI_USAGE', 'that is no name of an author', { fix: 'give --author up to 100 characters.' })
}

// `evsys invalidate RUN --reason TEXT`: takes a run out of every comparison. Its data stays; the conclusion is computed again.
export async function invalidate(
  context: CommandContext,
  reference: string,
  { reason }: { readonly reason: string },
): Promise<ExitCode> {
  const { output } = context
  const why = reason.trim()
  if (why === '') throw new EvsysError('CLI_USAGE', 'the reason is empty', { fix: 'say why the run must not count.' })
  return await withRecord(context, {}, async ({ store, project }) => {
    const run = await store.findRun(reference)
    const before = await store.findExperiment(run.experimentId)
    await store.verdicts.invalidate(run.id, why)
    const [{ concludeAgain }, { conclusionLines }] = await Promise.all([loadLab(), import('../../record/index.ts')])
    const result = await concludeAgain(store, before, { projectDir: project, clock: systemClock })
    const after = result.conclusion
    output.result({ run_id: run.id, run: run.name, reason: why, ...result }, () => {
      const first = `${output.colors.green('marked')} ${run.name} (${run.id}) as invalid: ${why}`
      if (output.quiet) return first
      if (after === null) return `${first}\n${before.name} has no conclusion yet; the run is left out when it gets one.`
      const was = before.verdict === after.verdict ? '' : `, and was ${before.verdict}`
      const facts: Fact[] = [
        ['verdict', `${after.verdict}${was}`, verdictPaint(after.verdict, output.colors)],
        ['conclusion', conclusionLines(after.text).join('\n')],
      ]
      return `${first}\n\n${labelledLines(facts, output)}\n\n${armTable(result, output)}`
    })
    return exitCodes.done
  })
}
