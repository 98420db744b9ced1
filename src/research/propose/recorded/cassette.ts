// Recorded proposals: a file of lines `{key, reply, usage}`. A key is the hash of what was asked.
import { appendFile, mkdir, readFile } from 'node:fs/promises'
import { dirname } from 'node:path'
import * as z from 'zod'
import { type Brief, Idea, type Usage } from '../../../contracts/index.ts'
import {
  checkValue,
  createRedactor,
  EvsysError,
  fileError,
  hashOf,
  messageOf,
  type Redact,
  systemCode,
} from '../../../kernel/index.ts'

const RecordedUsage = z.strictObject({
  promptTokens: z.number().min(0),
  completionTokens: z.number().min(0),
  cachedPromptTokens: z.number().min(0).optional(),
  latencyS: z.number().min(0).default(0),
  costUsd: z.number().min(0).optional(),
})

export const CassetteLine = z.strictObject({
  key: z.string().describe('Hash of the brief; `*`: of any.'),
  call: z.string().optional().describe('Of the session: tells equal briefs apart.'),
  purpose: z.enum(['propose', 'repair']).default('propose'),
  reply: z.union([z.string(), z.array(Idea)]).describe('Words of a model, or the ideas in them.'),
  usage: RecordedUsage.optional(),
})
export type CassetteLine = z.infer<typeof CassetteLine>

/** The hash of everything that decides an answer. */
export function briefKey({ text, request, files, repair }: Brief): string {
  return hashOf({ text, request, files, repair })
}

/** All lines of a cassette; none where there is no file. */
export async function readCassette(file: string): Promise<CassetteLine[]> {
  let text: string
  try {
    text = await readFile(file, 'utf8')
  } catch (cause) {
    if (systemCode(cause) === 'ENOENT') return []
    throw fileError('read', file, cause)
  }
  return text.split('\n').flatMap((line, place) => (line.trim() === '' ? [] : [parseLine(file, line, place + 1)]))
}

/** Adds a line, without secrets: those that are known, and whatever looks like a key of a provider. */
export async function appendLine(file: string, line: CassetteLine, redact: Redact = createRedactor()): Promise<void> {
  await mkdir(dirname(file), { recursive: true })
  await appendFile(file, `${JSON.stringify(redact(line))}\n`)
}

export function usageOfLine({ usage }: CassetteLine): Usage | undefined {
  if (usage === undefined) return undefined
  const { promptTokens, completionTokens, latencyS, cachedPromptTokens, costUsd } = usage
  return {
    promptTokens,
    completionTokens,
    latencyS,
    ...(cachedPromptTokens === undefined ? {} : { cachedPromptTokens }),
    ...(costUsd === undefined ? {} : { costUsd }),
  }
}

function parseLine(file: string, line: string, number: number): CassetteLine {
  let value: unknown
  try {
    value = JSON.parse(line)
  } catch (cause) {
    throw damaged(file, number, messageOf(cause))
  }
  const checked = checkValue(CassetteLine, value)
  if (checked.ok) return checked.value
  const [issue] = checked.issues
  throw damaged(file, number, [issue?.path.join('.'), issue?.message].filter(Boolean).join(': '))
}

function damaged(file: string, number: number, why: string): EvsysError {
  return new EvsysError('DATA_INVALID', `line ${number} of ${file} is no recorded proposal: ${why}`, {
    fix: 'correct the line, or record the cassette again.',
  })
}
