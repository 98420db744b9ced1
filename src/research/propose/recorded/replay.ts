import * as z from 'zod'
import type { Brief, Context, Proposal } from '../../../contracts/index.ts'
import { defineProposer, EvsysError } from '../../../kernel/index.ts'
import { innerProposers, proposeWith } from '../inner-proposer.ts'
import { parseReply } from '../llm/parse-reply.ts'
import { proposalError } from '../llm/proposal-error.ts'
import { appendLine, briefKey, type CassetteLine, readCassette, usageOfLine } from './cassette.ts'

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
  const line: CassetteLine = {
    key: briefKey(brief),
    ...(brief.call === undefined ? {} : { call: brief.call }),
    purpose: brief.repair === undefined ? 'propose' : 'repair',
    reply: [...ideas],
    ...(usage === undefined ? {} : { usage: { ...usage } }),
  }
  await appendLine(file, line, brief.redact)
  return proposal
}

// The state says how many experiments there were, so that a session that goes on after a crash takes up at the same line.
function findLine(lines: readonly CassetteLine[], brief: Brief, isStrict: boolean): CassetteLine | undefined {
  const key = briefKey(brief)
  const same = lines.filter((line) => line.key === key)
  const exact = same.find(({ call }) => call !== undefined && call === brief.call) ?? same[0]
  if (exact !== undefined || isStrict) return exact
  const purpose = brief.repair === undefined ? 'propose' : 'repair'
  const done = brief.state.attempts.filter(({ number }) => number > 0).length
  return lines.filter((line) => line.purpose === purpose)[done]
}

function played(line: CassetteLine, brief: Brief): Proposal {
  const usage = usageOfLine(line)
  const used = usage === undefined ? {} : { usage }
  if (typeof line.reply !== 'string') return { ideas: line.reply, ...used }
  const { ideas, problems } = parseReply(line.reply, { most: brief.request.ideas, files: Object.keys(brief.files) })
  if (ideas.length > 0) return { ideas, ...used }
  throw proposalError('INFERENCE_FAILED', `the recorded answer cannot be used: ${problems.join('; ')}`, usage)
}

function missing(file: string, count: number, brief: Brief): EvsysError {
  return new EvsysError(
    'CASSETTE_MISSING',
    `${file} (${count} proposals) holds none for this brief (${briefKey(brief).slice(0, 12)})`,
    {
      fix: 'record it with `mode: record`: the task, its record or the request are not those that were recorded.',
    },
  )
}
