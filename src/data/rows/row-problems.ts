// What is wrong with many rows, gathered so that it is reported at once: equal faults of many rows are one problem with a count.
import { EvsysError, type Problem } from '../../kernel/index.ts'

// A wrong file is often wrong in every row: more places than this are of no help, and reading on costs time.
const mostKinds = 20
const mostRows = 1_000

export class RowProblems {
  readonly #byMessage = new Map<string, { problem: Problem; rows: number }>()
  #rows = 0

  /**
   * Adds one row's problem. `message` says what is wrong without saying where: equal messages are counted together, and only the
   * first of them is described, since finding its place may take time.
   */
  add(message: string, describe: () => Omit<Problem, 'code' | 'message'> & { place: string }): void {
    this.#rows++
    const known = this.#byMessage.get(message)
    if (known !== undefined) known.rows++
    else {
      const { place, ...rest } = describe()
      this.#byMessage.set(message, {
        problem: { code: 'DATA_INVALID', message: `${place}: ${message}`, ...rest },
        rows: 1,
      })
    }
  }

  get none(): boolean {
    return this.#rows === 0
  }

  /** Enough is known: reading on would not help. */
  get full(): boolean {
    return this.#byMessage.size >= mostKinds || this.#rows >= mostRows
  }

  throwIfAny(): void {
    if (this.none) return
    throw EvsysError.many(
      [...this.#byMessage.values()].map(({ problem, rows }) => ({ ...problem, message: problem.message + more(rows) })),
    )
  }
}

function more(rows: number): string {
  if (rows === 1) return ''
  return rows === 2 ? ' (and another row)' : ` (and ${rows - 1}${rows >= mostRows ? ' or more' : ''} other rows)`
}
