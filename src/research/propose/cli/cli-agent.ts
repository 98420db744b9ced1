// A coding agent as a proposer: it finds the brief and the files in a private folder, edits them, and what it changed is the idea.
import { lstat, mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import * as z from 'zod'
import {
  type Brief,
  type CandidateFiles,
  type Change,
  type Context,
  type Idea,
  type Proposal,
  TokenPrice,
} from '../../../contracts/index.ts'
import { createRedactor, defineProposer, runProgram, temporaryFolder, whyNotHidden } from '../../../kernel/index.ts'
import { quoteLog } from '../brief/quote.ts'
import { proposalError } from '../ledger/proposal-usage.ts'
import { parseReply, readJson } from '../llm/parse-reply.ts'
import { writePrompt } from '../llm/write-prompt.ts'
import { endError, startError } from './agent-failure.ts'
import { type AgentCall, type AgentPreset, agentPresets, anyReport } from './agent-presets.ts'
import { usageOf } from './agent-report.ts'

const briefFile = 'BRIEF.md'
const ideaFile = 'IDEA.json'

const instruction = `Read ${briefFile}. Make exactly one change to the files beside it, as it asks for, by editing them in place. Run nothing that trains. Then write ${ideaFile}: {"title", "hypothesis", "family", "category": "architectural" | "optimizer" | "hyperparameter" | "regularization", "expected_effect": number, "cost": "cheaper" | "same" | "dearer"}.`

const params = z.strictObject({
  agent: z
    .enum(['claude', 'codex'])
    .default('claude')
    .describe('Claude Code or Codex; not used where `command` is given.'),
  model: z.string().min(1).optional().describe('Model of the agent. Absent: its own choice.'),
  base_url: z
    .url({ protocol: /^https?$/ })
    .optional()
    .describe('Address of a gateway or a server of your own: with /v1 for Codex, without for Claude Code.'),
  args: z.array(z.string()).default([]).describe('Further options of the agent, such as [--effort, high].'),
  price: TokenPrice.optional().describe('Dollars for a million tokens; wins over what the agent says.'),
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
    const folder = temporaryFolder('propose')
    try {
      return await proposeIn(folder, brief, context)
    } finally {
      await rm(folder, { recursive: true, force: true })
    }
  },
})

/** Of each stream: its end, where a program says what it did or why it failed. */
const keptBytes = 8_000_000

async function proposeIn(folder: string, brief: Brief, context: Context<CliParams>): Promise<Proposal> {
  const { params: settings, signal, log } = context
  const [work, home, temporary] = ['work', 'home', 'tmp'].map((name) => join(folder, name)) as [string, string, string] // three names
  for (const each of [home, temporary]) await mkdir(each)
  await writeFiles(work, { ...brief.files, [briefFile]: briefText(brief) })
  const preset = settings.command === undefined ? agentPresets[settings.agent] : undefined
  const call = callOf(settings, brief.limit?.usd)
  const { env, keys } = environmentOf(context, preset, call, { home, temporary })
  const redact = createRedactor(keys)
  const startedMs = Date.now()
  const argv = preset === undefined ? commandOf(settings) : preset.words(call)
  const hidden = await hideable(brief, log)
  const end = await runProgram({
    argv,
    cwd: work,
    env,
    hidden,
    stdin: settings.stdin === 'instruction' ? instruction : '',
    timeoutMs: settings.timeout_s * 1000,
    outputBytes: keptBytes,
    signal,
  }).catch((cause: unknown) => {
    signal.throwIfAborted()
    throw startError(argv[0] ?? '', preset, cause)
  })
  const read = preset?.report ?? anyReport
  const report = redact(await read(end.stdout, call, settings.use_home ? undefined : home))
  const usage = usageOf(report.spent, { latencyS: (Date.now() - startedMs) / 1000, price: settings.price })
  const output = report.words ?? `${end.stdout}\n${end.stderr}`
  const said = quoteLog(output, { lines: 12, characters: 1200 }, redact).join('\n')
  if (end.isLate)
    throw proposalError('AGENT_TIMEOUT', `the agent was not done after ${settings.timeout_s} s`, usage, {
      fix: 'give it more `timeout_s`.',
    })
  if (end.exitCode !== 0 || report.failure !== undefined) {
    const how = `ended with ${end.exitCode ?? 'a signal'}`
    throw endError({ preset, how, report, stderr: end.stderr, said, usage })
  }
  const known = Object.keys(brief.files)
  const after = await readFolder(work, { except: [briefFile, ideaFile], known })
  const change = changeBetween(brief.files, after)
  if (change === undefined) throw proposalError('AGENT_FAILED', `the agent changed nothing:\n${said}`, usage)
  const leak = Object.entries(after).find(([, text]) => Object.values(keys).some((key) => text.includes(key)))
  if (leak !== undefined) throw proposalError('AGENT_FAILED', `the agent wrote a secret into ${leak[0]}`, usage)
  const label = await readFile(join(work, ideaFile), 'utf8').catch(() => '')
  if (label === '') log('warn', `the agent wrote no ${ideaFile}: its idea has no label`)
  return { ideas: [labelled(redact(label), change)], usage }
}

async function hideable({ sealed = [] }: Brief, log: Context<CliParams>['log']): Promise<readonly string[]> {
  const reason = sealed.length === 0 ? undefined : await whyNotHidden()
  if (reason === undefined) return sealed
  log('warn', `the agent could read the hidden data of the task, as nothing hides it here: ${reason}`)
  return []
}

function callOf({ model, base_url, use_home, args }: CliParams, mostUsd: number | undefined): AgentCall {
  return { instruction, model, baseUrl: base_url, mostUsd, useHome: use_home, args }
}

function commandOf({ command = [] }: CliParams): string[] {
  if (typeof command === 'string')
    return ['sh', '-c', command.replaceAll('{instruction}', () => `'${instruction.replaceAll("'", `'\\''`)}'`)]
  return command.map((word) => word.replaceAll('{instruction}', () => instruction))
}

function environmentOf(
  { params: settings, secret }: Context<CliParams>,
  preset: AgentPreset | undefined,
  call: AgentCall,
  { home, temporary }: { readonly home: string; readonly temporary: string },
) {
  const names = settings.secrets ?? (settings.use_home || preset === undefined ? [] : [preset.secret])
  const keys = Object.fromEntries(names.map((name) => [name === preset?.secret ? preset.keyName : name, secret(name)]))
  const passed = ['PATH', 'LANG', 'LC_ALL', 'TZ', ...(settings.use_home ? ['HOME'] : [])]
  const own = Object.fromEntries(
    passed.flatMap((name) => (process.env[name] === undefined ? [] : [[name, process.env[name] ?? '']])),
  )
  const agents = preset === undefined ? {} : { ...preset.env, ...preset.variables(call) }
  return { env: { HOME: home, TMPDIR: temporary, ...own, ...agents, ...settings.env, ...keys }, keys }
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
  const read = readJson(label).flat()[0]
  return typeof read === 'object' && read !== null ? JSON.stringify({ ideas: [{ ...read, change }] }) : ''
}

// What an agent did to a folder, as a change. Links and whatever leads out of the folder are not followed.
/** What agents write besides. */
const ignored = /^(?:\..*|__pycache__|node_modules|.*\.pyc)$/
const mostFiles = 500
const longestFile = 2_000_000

/** The texts of a folder by path, but for those in `except` and what agents write besides, unless it is `known`. */
async function readFolder(
  folder: string,
  { except, known }: { readonly except: readonly string[]; readonly known: readonly string[] },
): Promise<Record<string, string>> {
  const isKnown = (path: string) => known.some((each) => each === path || each.startsWith(`${path}/`))
  const files: Record<string, string> = {}
  const walk = async (under: string): Promise<void> => {
    for (const entry of (await readdir(join(folder, under))).sort()) {
      const path = under === '' ? entry : `${under}/${entry}`
      if ((ignored.test(entry) && !isKnown(path)) || except.includes(path)) continue
      const stats = await lstat(join(folder, path))
      if (stats.isDirectory()) await walk(path)
      else if (stats.isFile() && stats.size <= longestFile && Object.keys(files).length < mostFiles) {
        const bytes = await readFile(join(folder, path))
        if (!bytes.includes(0)) files[path] = bytes.toString('utf8')
      }
    }
  }
  await walk('')
  return files
}

/** The difference as an idea's change; undefined: there is none. A file that is gone needs a patch, all else is whole files. */
function changeBetween(before: CandidateFiles, after: CandidateFiles): Change | undefined {
  const names = [...new Set([...Object.keys(before), ...Object.keys(after)])].sort()
  const changed = names.filter((name) => before[name] !== after[name])
  if (changed.length === 0) return undefined
  if (changed.every((name) => Object.hasOwn(after, name)))
    return { kind: 'files', files: Object.fromEntries(changed.map((name) => [name, after[name] ?? ''])) }
  return { kind: 'patch', patch: changed.map((name) => wholePatch(name, before[name], after[name])).join('') }
}

function wholePatch(name: string, before: string | undefined, after: string | undefined): string {
  const side = (text: string | undefined, sign: '-' | '+') => {
    if (text === undefined || text === '') return { lines: [] as string[], count: 0 }
    const isClosed = text.endsWith('\n')
    const lines = (isClosed ? text.slice(0, -1) : text).split('\n').map((line) => `${sign}${line}`)
    return { lines: isClosed ? lines : [...lines, '\\ No newline at end of file'], count: lines.length }
  }
  const [old, next] = [side(before, '-'), side(after, '+')]
  const from = before === undefined ? '/dev/null' : `a/${name}`
  const to = after === undefined ? '/dev/null' : `b/${name}`
  const place = (count: number) => (count === 0 ? '0,0' : `1,${count}`)
  return `${[`--- ${from}`, `+++ ${to}`, `@@ -${place(old.count)} +${place(next.count)} @@`, ...old.lines, ...next.lines].join('\n')}\n`
}
