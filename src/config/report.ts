// Everything that is wrong with a configuration, gathered so that it can be reported at once and in file order, and the notices
// that are no errors. Arms share text, so the same problem may be found many times; it is reported once.
import type { ErrorCode, Location, Notice } from '../contracts/index.ts'
import { EvsysError, type Problem, withoutUndefined } from '../kernel/index.ts'
import { formatPath } from './dotted-path.ts'
import { excerptOf, focusOf, type Origin, type Path, pathOf, positionOf, type Source, type Span } from './located.ts'

export interface Complaint {
  readonly code: ErrorCode
  readonly message: string
  readonly fix?: string | undefined
}

export class Report {
  readonly #problems = new Map<string, { problem: Problem; source: Source | undefined }>()
  readonly #notices = new Map<string, Notice>()
  readonly #order = new Map<Source, number>()
  readonly #reported = new WeakMap<Origin, Set<string>>()

  /** Declares a source; problems are reported in the order in which sources were declared. */
  addSource(source: Source): void {
    if (!this.#order.has(source)) this.#order.set(source, this.#order.size)
  }

  get sources(): Source[] {
    return [...this.#order.keys()]
  }

  /** True from the second time on: what thousands of arms share need be put into words only once. */
  isReported(origin: Origin, what: string): boolean {
    const reported = this.#reported.get(origin) ?? new Set()
    this.#reported.set(origin, reported)
    if (reported.has(what)) return true
    reported.add(what)
    return false
  }

  /** A problem with a value, a key, or with what is missing `below` it. */
  problem(origin: Origin, complaint: Complaint, below: Path = []): undefined {
    this.problemAt(focusOf(origin), complaint, [...pathOf(origin), ...below])
  }

  problemAt(span: Span, complaint: Complaint, path?: Path): undefined {
    this.addSource(span.source)
    this.add({ ...complaint, where: whereOf(span, path), excerpt: excerptOf(span) }, span.source)
  }

  /** A problem that was located elsewhere, such as in a data file, or has no place. */
  add(problem: Problem, source?: Source): undefined {
    const { code, message, where } = problem
    const key = JSON.stringify([code, message, where])
    if (!this.#problems.has(key)) this.#problems.set(key, { problem, source })
  }

  notice(text: string, origin?: Origin): undefined {
    const where = origin === undefined ? undefined : locationOf(origin)
    const key = JSON.stringify([text, where?.file, where?.line, where?.col])
    if (!this.#notices.has(key)) this.#notices.set(key, where === undefined ? { text } : { text, where })
  }

  /** All problems: by source, then by place. Those of other files come after. */
  get problems(): Problem[] {
    return [...this.#problems.values()].sort((a, b) => this.#compare(a, b)).map(({ problem }) => problem)
  }

  get notices(): Notice[] {
    return [...this.#notices.values()]
  }

  throwIfAny(): void {
    if (this.#problems.size > 0) throw EvsysError.many(this.problems)
  }

  #compare(a: { problem: Problem; source: Source | undefined }, b: typeof a): number {
    return (
      this.#rankOf(a.source) - this.#rankOf(b.source) ||
      compareText(a.problem.where?.file ?? '', b.problem.where?.file ?? '') ||
      (a.problem.where?.line ?? 0) - (b.problem.where?.line ?? 0) ||
      (a.problem.where?.col ?? 0) - (b.problem.where?.col ?? 0)
    )
  }

  #rankOf(source: Source | undefined): number {
    return (source === undefined ? undefined : this.#order.get(source)) ?? this.#order.size
  }
}

/** The place of a value, a key, or of what is missing `below` it. */
export function locationOf(origin: Origin, below: Path = []): Location {
  return whereOf(focusOf(origin), [...pathOf(origin), ...below])
}

/** A place in words, to name it in another problem's message: `base.yaml:3`. */
export function placeName(origin: Origin): string {
  const { source, start } = focusOf(origin)
  return `${source.name}:${positionOf(source, start).line}`
}

function whereOf(span: Span, path: Path = []): Location {
  const at = { file: span.source.name, ...positionOf(span.source, span.start) }
  return withoutUndefined({ ...at, path: formatPath(path) || undefined })
}

function compareText(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0
}
