import { appendFile, mkdir, readFile } from 'node:fs/promises'
import { dirname } from 'node:path'
import * as z from 'zod'
import { type Brief, type Context, Idea, type Proposal } from '../../../contracts/index.ts'
import {
  checkValue,
  createRedactor,
  defineProposer,
  EvsysError,
  fileError,
  hashOf,
  messageOf,
  type Redact,
  systemCode,
} from '../../../kernel/index.ts'
import { innerProposers, proposeWith } from '../inner-proposer.ts'
import { proposalError } from '../ledger/proposal-usage.ts'
import { parseReply } from '../llm/parse-reply.ts'

const params = z.strictObject({
  file: z.string().min(1).describe('The cassette: lines of {key, reply, usage}.'),
  mode: z
    .enum(['record', 'replay', 'strict'])
    .default('replay')
    .describe(
      '`record`: asks and writes down. `replay`: the line of this brief, or else the line with the number of the experiment. `strict`: the line of this brief alone.',
    ),
  proposer: z
    .strictObject({ kind: z.enum(innerProposers), params: z.record(z.string(), z.unknown()).default({}) })
    .optional()
    .describe('Who is asked while recording.'),
})

/** Answers from a cassette with the usage that was recorded, so that a whole session and its bill can be played again. */
export const replay = defineProposer({
  kind: 'replay',
  summary:
    'Answers from a cassette of recorded proposals, with their recorded cost; records one from another proposer.',
  params,
  isRecorded: true,
  needs: { secrets: ['ANTHROPIC_API_KEY', 'OPENAI_API_KEY'] },
  async propose(brief, context) {
    if (context.params.mode === 'record') return record(brief, context)
    const lines = await readCassette(context.params.file)
    const line = findLine(lines, brief, context.params.mode === 'strict')
    if (line === undefined) throw missing(context.params.file, lines.length, brief)
    return played(line, brief)
  },
})

async function record(brief: Brief, context: Context<z.output<typeof params>>): Promise<Proposal> {
  const { file, proposer } = context.params
  if (proposer === undefined)
    throw new EvsysError('PLUGIN_PARAMS', 'the proposer "replay" needs `proposer` to record', {
      fix: 'name who is asked: proposer: { kind: anthropic }.',
    })
  const proposal = await proposeWith(proposer, brief, context)
  const { ideas, usage } = proposal
  const purpose = brief.repair === undefined ? 'propose' : 'repair'
  const line: CassetteLine = { key: briefKey(brief), call: brief.call, purpose, reply: [...ideas], usage }
  await appendLine(file, line, brief.redact)
  return proposal
}

// The state says how many experiments there were, so that a session that is resumed after a crash continues at the same line.
function findLine(lines: readonly CassetteLine[], brief: Brief, isStrict: boolean): CassetteLine | undefined {
  const key = briefKey(brief)
  const same = lines.filter((line) => line.key === key)
  const exact = same.find(({ call }) => call !== undefined && call === brief.call) ?? same[0]
  if (exact !== undefined || isStrict) return exact
  const purpose = brief.repair === undefined ? 'propose' : 'repair'
  const done = brief.state.attempts.filter(({ number }) => number > 0).length
  return lines.filter((line) => line.purpose === purpose)[done]
}

function played({ reply, usage }: CassetteLine, brief: Brief): Proposal {
  if (typeof reply !== 'string') return { ideas: reply, usage }
  const { ideas, problems } = parseReply(reply, { most: brief.request.ideas, files: Object.keys(brief.files) })
  if (ideas.length > 0) return { ideas, usage }
  throw proposalError('INFERENCE_FAILED', `the recorded answer cannot be used: ${problems.join('; ')}`, usage)
}

function missing(file: string, count: number, brief: Brief): EvsysError {
  const which = `${file} (${count} proposals) holds none for this brief (${briefKey(brief).slice(0, 12)})`
  return new EvsysError('CASSETTE_MISSING', which, {
    fix: 'record it with `mode: record`: the task, its record or the request are not those that were recorded.',
  })
}

// Recorded proposals: a file of lines `{key, reply, usage}`. A key is the hash of what was asked.
const RecordedUsage = z.strictObject({
  promptTokens: z.number().min(0),
  completionTokens: z.number().min(0),
  cachedPromptTokens: z.number().min(0).optional(),
  latencyS: z.number().min(0).default(0),
  costUsd: z.number().min(0).optional(),
})

const CassetteLine = z.strictObject({
  key: z.string().describe('Hash of the brief; `*`: of any.'),
  call: z.string().optional().describe('Of the session: distinguishes equal briefs.'),
  purpose: z.enum(['propose', 'repair']).default('propose'),
  reply: z.union([z.string(), z.array(Idea)]).describe('Words of a model, or the ideas in them.'),
  usage: RecordedUsage.optional(),
})
type CassetteLine = z.infer<typeof CassetteLine>

/** The hash of everything that decides an answer. */
export function briefKey({ text, request, files, repair }: Brief): string {
  return hashOf({ text, request, files, repair })
}

/** All lines of a cassette; none where there is no file. */
async function readCassette(file: string): Promise<CassetteLine[]> {
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
