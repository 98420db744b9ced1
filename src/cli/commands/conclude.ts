// `evsys conclude ID TEXT`: an author's word beside the computed conclusion, which stays as it is.
import { userInfo } from 'node:os'
import { EvsysError } from '../../kernel/index.ts'
import { loadLab } from '../../lab/index.ts'
import type { CommandContext } from '../command-context.ts'
import { type ExitCode, exitCodes } from '../exit-code.ts'
import { verdictPaint } from '../output/experiment-text.ts'
import { type Fact, labelledLines } from '../output/labelled-lines.ts'
import { readStdin } from '../read-stdin.ts'
import { withRecord } from '../with-record.ts'

export type ConcludeOptions = { readonly author?: string }

const longestText = 100_000

export async function conclude(
  context: CommandContext,
  reference: string,
  word: string,
  { author = defaultAuthor(context.env) }: ConcludeOptions,
): Promise<ExitCode> {
  const { output } = context
  const text = (word === '-' ? await readStdin(context) : word).trim()
  checkText(text, author)
  return await withRecord(context, {}, async ({ store, project }) => {
    const found = await store.findExperiment(reference)
    await store.verdicts.conclude(found.id, author.trim(), text)
    const experiment = await store.findExperiment(found.id)
    const { refreshFiles } = await loadLab()
    await refreshFiles(store, experiment, project)
    const { id, name, verdict, conclusion, words } = experiment
    output.result({ experiment_id: id, name, verdict: verdict ?? null, conclusion: conclusion ?? null, words }, () => {
      const first = `${output.colors.green('noted')} beside the conclusion of ${name} (${id})`
      if (output.quiet) return first
      const facts: Fact[] = [
        verdict === undefined ? ['verdict', 'none yet'] : ['verdict', verdict, verdictPaint(verdict, output.colors)],
        ...optional('computed', conclusion),
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

function checkText(text: string, author: string): void {
  if (text === '') throw new EvsysError('CLI_USAGE', 'the text is empty', { fix: 'say what you conclude, in quotes.' })
  if (text.length > longestText) {
    throw new EvsysError('CLI_USAGE', `the text has ${text.length} characters, more than ${longestText}`, {
      fix: 'say it shorter, and name a file for the rest.',
    })
  }
  if (author.trim() === '' || author.length > 100 || /\p{Cc}/u.test(author)) {
    throw new EvsysError('CLI_USAGE', 'that is no name of an author', { fix: 'give --author up to 100 characters.' })
  }
}

function defaultAuthor(env: CommandContext['env']): string {
  const named = env.EVSYS_AUTHOR ?? ''
  if (named !== '') return named
  try {
    return userInfo().username
  } catch {
    return 'author' // a system without users
  }
}
