// Whether a candidate may run: read first, then its syntax checked in the sandbox by the interpreter that will run it, then tried for a
// step or two.
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import * as z from 'zod'
import type { AttemptFailure, CandidateFiles, TaskProgram } from '../../contracts/index.ts'
import { typescriptFault } from '../../kernel/index.ts'
import { bundledTasks } from '../tasks/find-tasks.ts'
import { AnswerPhase } from './answer-phase.ts'
import { type CandidateSandbox, openCandidateSandbox, type PhaseOptions } from './candidate-sandbox.ts'
import { type Opened, scorerStart } from './run-candidate.ts'
import { RunFailure } from './run-failure.ts'
import { makeRunFolder, type RunFolder, settleOutFolder } from './run-folder.ts'
import { type Asked, scoreRun } from './score-run.ts'
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
  await using folder = await makeRunFolder(workDir, files, program)
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

const driver = (name: string) => readFileSync(join(bundledTasks, 'shared', name), 'utf8')

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
    ? [python, '-I', '-c', driver('check_syntax.py')]
    : ['node', '--no-warnings', '--experimental-vm-modules', '-e', driver('check-syntax.cjs')]
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
  const answers = new AnswerPhase(options, signal)
  const seconds = { answer: limits.dryRunSeconds, scorer: limits.dryRunSeconds }
  try {
    await scoreRun(scorerStart(opened, { folder, seed, split: 'val' }), firstOf(answers), seconds, signal)
  } catch (cause) {
    signal.throwIfAborted()
    const isFault = cause instanceof RunFailure && !provesNothing.has(cause.failure.class)
    if (isFault) throw cause
  } finally {
    await answers[Symbol.asyncDispose]()
  }
  return answers.peakMemoryBytes
}

function firstOf(answers: AnswerPhase): Asked {
  let asked = 0
  return {
    get isAsked() {
      return answers.isAsked
    },
    async ask(question) {
      asked += 1
      if (asked > mostQuestions) throw new Enough('the first questions were answered')
      return await answers.ask(question)
    },
  }
}
