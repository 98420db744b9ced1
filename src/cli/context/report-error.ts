// Where errors end: as text on stderr, or as one document on stdout. A stack trace is printed only on request.
import { inspect } from 'node:util'
import type { ErrorReport } from '../../contracts/index.ts'
import { formatProblems, type Problem, problemsOf, toRecord, visibleText } from '../../kernel/index.ts'
import { wantsColor } from '../output/colors.ts'
import type { CliIo } from '../output/io.ts'
import { shortPath } from '../output/text.ts'
import { type ExitCode, exitCodeOf } from './command-context.ts'

/** Prints whatever a command threw and returns the exit code for it. */
export function reportError(error: unknown, io: CliIo, { json }: { json: boolean }): ExitCode {
  const problems = problemsOf(error).map((problem) => shownFrom(io.cwd, withReportingFix(problem)))
  if (json) {
    const report: ErrorReport = { errors: problems.map(toRecord) }
    io.stdout.write(`${JSON.stringify(report, null, 2)}\n`)
  } else {
    const color = wantsColor(io.stderr, io.env)
    io.stderr.write(`${problemText(problems, { color })}\n`)
  }
  if (io.env.EVSYS_DEBUG === '1') io.stderr.write(`\n${inspect(error)}\n`)
  return exitCodeOf(problems)
}

/** A problem whose file is named as seen from `cwd`. */
export function shownFrom(cwd: string, problem: Problem): Problem {
  const { where } = problem
  return where === undefined ? problem : { ...problem, where: { ...where, file: shortPath(where.file, cwd) } }
}

/** Problems as people read them, with their number when they stand in files. */
export function problemText(problems: readonly Problem[], { color }: { color: boolean }): string {
  const text = formatProblems(problems, { color })
  const files = [...new Set(problems.flatMap(({ where }) => where?.file ?? []))]
  return files.length === 0 ? text : `${text}\n\n${countLine(problems.length, files)}`
}

function countLine(count: number, files: readonly string[]): string {
  const where = files.length === 1 ? visibleText(files[0] ?? '') : `${files.length} files`
  return `${count} ${count === 1 ? 'problem' : 'problems'} in ${where}`
}

function withReportingFix(problem: Problem): Problem {
  if (problem.code !== 'INTERNAL' || problem.fix !== undefined) return problem
  return {
    ...problem,
    fix: 'this is a mistake in evsys, not in your input. Run it again with EVSYS_DEBUG=1 and report what it prints, together with `evsys doctor --json`.',
  }
}
