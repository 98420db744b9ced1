// What a model is asked: the rules and the form of an answer as the system message, the brief and the code as the question.
import { readFileSync } from 'node:fs'
import type { Brief, CandidateFiles, ChatMessage, SearchMode } from '../../../contracts/index.ts'
import { createRedactor } from '../../../kernel/index.ts'
import { clip, quoteLine, quoteLog } from '../brief/quote.ts'

/** The most characters of code in a prompt: about 20,000 tokens. */
const codeCharacters = 80_000

/** Rules, and the form of an answer: for candidates that are programs, and for those that are experiment files. */
const ofProgram = readFileSync(new URL('../../../../templates/research/propose.md', import.meta.url), 'utf8').trimEnd()
const ofExperiment = readFileSync(
  new URL('../../../../templates/research/propose-experiment.md', import.meta.url),
  'utf8',
).trimEnd()

const tasks: Readonly<Record<SearchMode, string>> = {
  improve: 'Improve the base by steps that build on what has worked.',
  explore: 'Depart from the base: change what nobody has changed yet, even if it may fail.',
  diversify: 'The base is not the best candidate. Make it better by another way than the incumbent went.',
  combine: 'Combine the base with the other parent so that both changes act together.',
  ablate: 'Take one part out of the base that may do nothing, so that less code does the same.',
}

/** The messages of one question. */
export function writePrompt(brief: Brief): ChatMessage[] {
  const isExperiment = brief.state.catalog !== undefined
  const heading = isExperiment ? 'Files of the base' : 'Code of the base'
  const files = Object.keys(brief.files).length === 0 ? [] : [`## ${heading}\n${codeText(brief.files)}`]
  const parts = [brief.text, ...files, ...parentText(brief), requestText(brief)]
  const question = parts.join('\n\n')
  return [
    { role: 'system', content: isExperiment ? ofExperiment : ofProgram },
    { role: 'user', content: brief.redact?.(question) ?? question },
  ]
}

/** The question after an answer that could not be used. */
export function askAgain(messages: readonly ChatMessage[], answer: string, problem: string): ChatMessage[] {
  return [
    ...messages,
    { role: 'assistant', content: clip(answer, 8000) || '(empty)' },
    {
      role: 'user',
      content: `That answer cannot be used: ${problem}. Answer again with one JSON object {"ideas": [...]} of the stated form, complete, without words or fences around it. One short idea is enough.`,
    },
  ]
}

function codeText(files: CandidateFiles): string {
  const names = Object.keys(files).sort()
  const share = Math.floor(codeCharacters / Math.max(1, names.length))
  return names
    .map((name) => {
      const text = files[name] ?? ''
      const fence = '`'.repeat(Math.max(3, ...[...text.matchAll(/`+/g)].map(([run]) => run.length + 1)))
      const cut = text.length > share
      const note = cut
        ? `\n(${text.length - share} more characters are not shown: change this file by knobs or patch alone)`
        : ''
      return `### ${name}\n${fence}\n${cut ? text.slice(0, share) : text}${text.endsWith('\n') && !cut ? '' : '\n'}${fence}${note}`
    })
    .join('\n\n')
}

function parentText({ request, state }: Brief): string[] {
  const other = state.attempts.find(({ id }) => id === request.parents[1])
  if (other === undefined) return []
  const redact = createRedactor()
  return [
    `## The other parent\n#${other.number} ${quoteLine(other.title, 200, redact)}: ${quoteLine(other.hypothesis, 600, redact)}`,
  ]
}

function requestText({ request, repair, state }: Brief): string {
  if (repair !== undefined) return repairText(repair)
  const unwanted = [...new Set([...request.avoidFamilies, ...state.banned])]
  const redact = createRedactor()
  return [
    '## What is asked for',
    tasks[request.mode],
    `Give ${request.ideas} ${request.ideas === 1 ? 'idea' : 'different ideas, the most promising first'}.`,
    ...(unwanted.length === 0
      ? []
      : [`Not of these families: ${unwanted.map((each) => quoteLine(each, 60, redact)).join(', ')}.`]),
  ].join('\n')
}

function repairText({ idea, failures }: NonNullable<Brief['repair']>): string {
  const redact = createRedactor()
  return [
    '## What is asked for',
    'Your idea below was turned down before it was run. Give one idea: the same one, put right. Its change is against the base above.',
    `Title: ${quoteLine(idea.title, 200, redact)}`,
    `Change:\n~~~~~~json\n${clip(JSON.stringify(idea.change).replaceAll('~~~~~~', ''), 20_000)}\n~~~~~~`,
    ...failures
      .slice(0, 5)
      .flatMap(({ class: kind, reason, log = '' }) => [
        `Failure (${kind}): ${quoteLine(reason, 600, redact)}`,
        ...quoteLog(log, { lines: 30, characters: 3000 }, redact),
      ]),
  ].join('\n')
}
