// Whether a candidate may run: read first, then its syntax checked in the sandbox by the interpreter that will run it, then tried for a
// step or two.
import * as z from 'zod'
import type { AttemptFailure, CandidateFiles, TaskProgram } from '../../contracts/index.ts'
import { typescriptFault } from '../../kernel/index.ts'
import { type AnswerPhase, openAnswerPhase } from './answer-phase.ts'
import { type CandidateSandbox, openCandidateSandbox, type PhaseOptions } from './candidate-sandbox.ts'
import { type Opened, scorerStart } from './run-candidate.ts'
import { RunFailure } from './run-failure.ts'
import { makeRunFolder, type RunFolder, settleOutFolder } from './run-folder.ts'
import { scoreRun } from './score-run.ts'
import { trainPhase } from './train-phase.ts'
import { checkCode, checkFiles } from './validate/check-code.ts'
import { asFailures, type Finding } from './validate/code-file.ts'

/** What is wrong with it; rejects with a RunFailure where the dry run shows it. */
export async function checkCandidate(
  opened: Opened,
  files: CandidateFiles,
  signal: AbortSignal,
): Promise<readonly AttemptFailure[]> {
  const { task, program, options, limits, workDir } = opened
  const refused = checkFiles(task, program, files)
  if (refused.length > 0) return asFailures(refused) // they are never written
  const findings = checkCode(program, files)
  await using folder = await makeRunFolder(workDir, files, program, options.keepFolders === true)
  const phase = dryRunPhase(opened, folder)
  {
    await using held = await openCandidateSandbox({ ...phase, phase: 'answer' })
    findings.push(...(await checkSyntax(held, program, files, signal)))
  }
  if (findings.length > 0) return asFailures(findings)
  const begin = performance.now()
  const trained = await trainPhase(phase, signal)
  // One that was still busy has left nothing to answer with.
  const answering = trained.cut ? undefined : await dryAnswers(opened, phase, signal)
  const { peakMemoryBytes: training } = trained
  options.onDryRun?.({
    wallS: (performance.now() - begin) / 1000,
    memoryLimitBytes: limits.memoryBytes,
    peakMemoryBytes: training === undefined ? undefined : Math.max(training, answering ?? 0),
    trainingBytes: training,
    answeringBytes: answering,
  })
  return []
}

/** Phases of a candidate that trains for a step or two. */
export function dryRunPhase({ task, program, options, limits }: Opened, folder: RunFolder) {
  return {
    program,
    folder,
    limits,
    seed: task.seeds[0] ?? 0,
    trainSeconds: limits.dryRunSeconds,
    timeoutSeconds: limits.dryRunSeconds + limits.graceSeconds,
    dry: true,
    level: options.level,
  }
}

const javascriptDriver = `
const vm = require('node:vm'), fs = require('node:fs')
const found = []
// Only what is not caught is reported with its line.
const lineOf = (file) => {
  const { stderr } = require('node:child_process').spawnSync(process.execPath, ['--check', './' + file], { encoding: 'utf8' })
  return Number(/^\\S*:(\\d+)$/m.exec(stderr)?.[1] ?? 1)
}
for (const file of JSON.parse(fs.readFileSync(0, 'utf8'))) {
  const text = fs.readFileSync('./' + file, 'utf8').replace(/^#!.*/, '')
  const kinds = file.endsWith('.cjs') ? ['script'] : file.endsWith('.mjs') ? ['module'] : ['module', 'script']
  let first
  for (const kind of kinds) {
    try {
      if (kind === 'module') new vm.SourceTextModule(text, { identifier: 'candidate' })
      else new vm.Script('(function () {' + text + '\\n})', { filename: 'candidate' })
      first = undefined
      break
    } catch (error) {
      first ??= { file, line: lineOf(file), message: String(error.message) }
    }
  }
  if (first !== undefined) found.push(first)
}
process.stdout.write(JSON.stringify(found))
`

const pythonDriver = `
import json, sys
found = []
for file in json.load(sys.stdin):
    try:
        with open("./" + file, "rb") as source:
            compile(source.read(), file, "exec", 0x400, True)
    except (SyntaxError, ValueError) as error:
        found.append({"file": file, "line": getattr(error, "lineno", 1) or 1, "message": getattr(error, "msg", None) or str(error)})
    except (RecursionError, MemoryError):
        found.append({"file": file, "line": 1, "message": "too deeply nested"})
print(json.dumps(found))
`

const Found = z.array(z.object({ file: z.string(), line: z.int().min(1), message: z.string() }))
const timeoutMs = 60_000

async function checkSyntax(
  held: CandidateSandbox,
  program: TaskProgram,
  files: CandidateFiles,
  signal: AbortSignal,
): Promise<Finding[]> {
  const isPython = program.language === 'python'
  const ending = isPython ? /\.py$/ : /\.(?:js|mjs|cjs)$/
  if (program.language === 'command') return []
  const typed = isPython ? [] : typescriptFindings(files)
  const names = Object.keys(files).filter((name) => ending.test(name))
  if (names.length === 0) return typed
  const python = /^\s*(\S*python[\d.]*)(?=\s)/.exec(program.command)?.[1] ?? 'python3'
  const argv = isPython
    ? [python, '-I', '-c', pythonDriver]
    : ['node', '--no-warnings', '--experimental-vm-modules', '-e', javascriptDriver]
  const result = await held.sandbox.exec({ ...held.spec(timeoutMs), argv, stdin: JSON.stringify(names) }, signal)
  const found = Found.safeParse(parsed(result.stdout))
  // An interpreter that cannot say is no fault of the candidate; its start will show it.
  const faults = found.success ? found.data.map((each) => syntaxFinding(each)) : []
  return [...faults, ...typed]
}

// No version of Node reads TypeScript that every user has; the parser of plugin files does, and runs nothing.
function typescriptFindings(files: CandidateFiles): Finding[] {
  return Object.entries(files).flatMap(([file, text]) => {
    const fault = /\.[cm]?ts$/.test(file) ? typescriptFault(text) : undefined
    return fault === undefined ? [] : [syntaxFinding({ file, ...fault })]
  })
}

function syntaxFinding({ file, line, message }: { file: string; line: number; message: string }): Finding {
  return { class: 'syntax', file, line, message, fix: 'correct the syntax.' }
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

/** Questions that are answered before it is enough. */
const mostQuestions = 2

/** A model that is hardly trained may diverge or be slow to answer: the run itself shows it. */
const provesNothing = new Set(['divergence', 'timeout', 'infra'])

class Enough extends Error {}

/**
 * The second half of a dry run: the candidate that trained for a step or two is started again and asked the first questions of the
 * scorer, so that one that cannot answer is found before it is trained. Nothing of it is a score, and none is kept. Returns the most
 * memory that answering took, where it is known; rejects with a RunFailure where the candidate cannot answer.
 */
async function dryAnswers(
  opened: Opened,
  options: Omit<PhaseOptions, 'phase'>,
  signal: AbortSignal,
): Promise<number | undefined> {
  const { folder, seed, limits } = options
  settleOutFolder(folder.out, limits.diskBytes)
  const answers = openAnswerPhase(options, signal)
  try {
    await scoreRun(
      scorerStart(opened, { folder, seed, split: 'val' }),
      firstOf(answers),
      { answer: limits.dryRunSeconds, scorer: limits.dryRunSeconds },
      signal,
    )
  } catch (cause) {
    signal.throwIfAborted()
    const isFault = cause instanceof RunFailure && !provesNothing.has(cause.failure.class)
    if (isFault) throw cause
  } finally {
    await answers[Symbol.asyncDispose]()
  }
  return answers.peakMemoryBytes
}

function firstOf(answers: AnswerPhase): AnswerPhase {
  let asked = 0
  return {
    get isAsked() {
      return answers.isAsked
    },
    get peakMemoryBytes() {
      return answers.peakMemoryBytes
    },
    async ask(question) {
      asked += 1
      if (asked > mostQuestions) throw new Enough('the first questions were answered')
      return await answers.ask(question)
    },
    [Symbol.asyncDispose]: () => answers[Symbol.asyncDispose](),
  }
}
