// A coding agent as a proposer: it finds the brief and the files in a folder of its own, edits them, and what it changed is the idea.
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import * as z from 'zod'
import type { Brief, Change, Context, Idea, Proposal } from '../../../contracts/index.ts'
import { createRedactor, defineProposer, EvsysError, messageOf, runProgram } from '../../../kernel/index.ts'
import { quoteLog } from '../brief/quote.ts'
import { parseReply } from '../llm/parse-reply.ts'
import { proposalError } from '../llm/proposal-error.ts'
import { writePrompt } from '../llm/write-prompt.ts'
import { agentPresets, toldUsage } from './agent-presets.ts'
import { changeBetween, readFolder } from './read-edits.ts'

const briefFile = 'BRIEF.md'
const ideaFile = 'IDEA.json'

const instruction = `Read ${briefFile}. Make exactly one change to the files beside it, as it asks for, by editing them in place. Run nothing that trains. Then write ${ideaFile}: {"title", "hypothesis", "family", "category": "architectural" | "optimizer" | "hyperparameter" | "regularization", "expected_effect": number, "cost": "cheaper" | "same" | "dearer"}.`

const params = z.strictObject({
  agent: z
    .enum(['claude', 'codex'])
    .default('claude')
    .describe('Claude Code or Codex; not used where `command` is given.'),
  command: z
    .union([z.string().min(1), z.array(z.string()).min(1)])
    .optional()
    .describe('Any other program: a list of words, or a line for sh. {instruction} is filled in.'),
  stdin: z.enum(['none', 'instruction']).default('none').describe('What the program reads.'),
  env: z.record(z.string(), z.string()).default({}).describe('Further environment variables; no secrets.'),
  secrets: z
    .array(z.enum(['ANTHROPIC_API_KEY', 'OPENAI_API_KEY']))
    .optional()
    .describe(
      'Secrets in its environment. Absent: the key of the agent; none for a command, or with your home folder.',
    ),
  use_home: z
    .boolean()
    .default(false)
    .describe('Give it your home folder, and so its stored login, in the place of an empty one.'),
  timeout_s: z.number().gt(0).max(7200).default(900).describe('How long it may take.'),
})
type CliParams = z.output<typeof params>

/** Asks a coding agent on this machine: Claude Code, Codex, any command. */
export const cliAgent = defineProposer({
  kind: 'cli-agent',
  summary:
    'Lets a coding agent on this machine (Claude Code, Codex, any command) edit the files; what it changed is the idea.',
  params,
  needs: { network: true, secrets: ['ANTHROPIC_API_KEY', 'OPENAI_API_KEY'] },
  async propose(brief, context) {
    const folder = await mkdtemp(join(tmpdir(), 'evsys-propose-'))
    try {
      return await proposeIn(folder, brief, context)
    } finally {
      await rm(folder, { recursive: true, force: true })
    }
  },
})

/** Of each stream: its end, where a program says what it did or why it failed. */
const keptBytes = 1_000_000

async function proposeIn(folder: string, brief: Brief, context: Context<CliParams>): Promise<Proposal> {
  const { params: settings, signal, log } = context
  const work = join(folder, 'work')
  const home = join(folder, 'home')
  await mkdir(home)
  await writeFiles(work, { ...brief.files, [briefFile]: briefText(brief) })
  const { env, redact } = environmentOf(context, home)
  const startedMs = Date.now()
  const argv = commandOf(settings, brief.limit?.usd)
  const end = await runProgram({
    argv,
    cwd: work,
    env,
    stdin: settings.stdin === 'instruction' ? instruction : '',
    timeoutMs: settings.timeout_s * 1000,
    outputBytes: keptBytes,
    signal,
  }).catch((cause: unknown) => {
    signal.throwIfAborted()
    throw new EvsysError('AGENT_FAILED', `${argv[0]} cannot be started: ${messageOf(cause)}`, {
      cause,
      fix: 'install the program, or write `command` with the path that it has on this machine.',
    })
  })
  const usage = toldUsage(end.stdout, (Date.now() - startedMs) / 1000)
  const said = quoteLog(`${end.stdout}\n${end.stderr}`, { lines: 12, characters: 1200 }, redact).join('\n')
  if (end.isLate)
    throw proposalError('AGENT_TIMEOUT', `the agent was not done after ${settings.timeout_s} s`, usage, {
      fix: 'give it more `timeout_s`.',
    })
  if (end.exitCode !== 0)
    throw proposalError('AGENT_FAILED', `the agent ended with ${end.exitCode ?? 'a signal'}:\n${said}`, usage, {
      fix: 'start its command by hand in an empty folder: it must work without a person.',
    })
  const known = Object.keys(brief.files)
  const change = changeBetween(brief.files, await readFolder(work, { except: [briefFile, ideaFile], known }))
  if (change === undefined) throw proposalError('AGENT_FAILED', `the agent changed nothing:\n${said}`, usage)
  const label = await readFile(join(work, ideaFile), 'utf8').catch(() => '')
  if (label === '') log('warn', `the agent wrote no ${ideaFile}: its idea has no label`)
  return { ideas: [labelled(redact(label), change)], ...(usage === undefined ? {} : { usage }) }
}

function commandOf({ command, agent }: CliParams, mostUsd: number | undefined): string[] {
  if (typeof command === 'string')
    return ['sh', '-c', command.replaceAll('{instruction}', () => `'${instruction.replaceAll("'", `'\\''`)}'`)]
  const preset = agentPresets[agent]
  const words = (command ?? preset.command).map((word) => word.replaceAll('{instruction}', () => instruction))
  if (command !== undefined || preset.budget === undefined || mostUsd === undefined) return words
  return [...words, preset.budget, Math.max(0.01, mostUsd).toFixed(2)]
}

function environmentOf({ params: settings, secret }: Context<CliParams>, home: string) {
  const preset = settings.command === undefined ? agentPresets[settings.agent] : undefined
  const names = settings.secrets ?? (settings.use_home ? [] : (preset?.secrets ?? []))
  const given = Object.fromEntries(names.map((name) => [name, secret(name)]))
  const alias = Object.entries(preset?.alias ?? {}).flatMap(([name, other]) =>
    Object.hasOwn(given, name) ? [[other, given[name] ?? '']] : [],
  )
  const keys: Record<string, string> = { ...given, ...Object.fromEntries(alias) }
  const passed = ['PATH', 'LANG', 'LC_ALL', 'TZ', ...(settings.use_home ? ['HOME'] : [])]
  const own = Object.fromEntries(
    passed.flatMap((name) => (process.env[name] === undefined ? [] : [[name, process.env[name] ?? '']])),
  )
  return { env: { HOME: home, TMPDIR: home, ...own, ...settings.env, ...keys }, redact: createRedactor(keys) }
}

async function writeFiles(folder: string, files: Readonly<Record<string, string>>): Promise<void> {
  for (const [path, text] of Object.entries(files)) {
    await mkdir(dirname(join(folder, path)), { recursive: true })
    await writeFile(join(folder, path), text)
  }
}

// The same words as for a model behind an API, without the form of its answer and without the code, which lies beside.
function briefText(brief: Brief): string {
  const [, question] = writePrompt({ ...brief, files: {}, request: { ...brief.request, ideas: 1 } })
  return `${typeof question?.content === 'string' ? question.content : ''}\n`
}

function labelled(label: string, change: Change): Idea {
  const { ideas } = parseReply(withChange(label, change), { most: 1, files: [] })
  const paths = change.kind === 'files' ? Object.keys(change.files).join(', ') : 'several files'
  return (
    ideas[0] ?? {
      title: `Edit of ${paths}`.slice(0, 200),
      hypothesis: '',
      family: 'unnamed',
      category: 'hyperparameter',
      cost: 'same',
      parents: [],
      change,
    }
  )
}

function withChange(label: string, change: Change): string {
  try {
    return JSON.stringify({ ideas: [{ ...JSON.parse(label), change }] })
  } catch {
    return ''
  }
}
