// What PostgreSQL and the way to it say went wrong, as an error that says what to do.
import { EvsysError, type EvsysErrorOptions, messageOf, systemCode } from '../../kernel/index.ts'

type Fault = Required<Pick<EvsysErrorOptions, 'fix' | 'retryable'>>

const away: Fault = { retryable: true, fix: 'check the address, that the server runs, and that it can be reached.' }
const crowded: Fault = { retryable: true, fix: 'the server is busy: try again, or let it take more connections.' }
const refused: Fault = { retryable: false, fix: 'check role, password and database in the address.' }
const full: Fault = {
  retryable: false,
  fix: 'free some space on the server, then run the command again: nothing that was acknowledged is lost.',
}
const forbidden: Fault = { retryable: false, fix: 'give the role the right to create and write tables in its schema.' }
const unknown: Fault = { retryable: false, fix: 'the log of the server says more.' }

// SQLSTATE codes, by their beginning; https://www.postgresql.org/docs/current/errcodes-appendix.html
const BY_STATE: readonly (readonly [string, Fault])[] = [
  ['08', away],
  ['57P', away],
  ['53100', full],
  ['53', crowded],
  ['40', crowded],
  ['55P03', crowded],
  ['28', refused],
  ['3D000', refused],
  ['42501', forbidden],
  ['25006', forbidden],
]
const AWAY = /^(ECONN|EHOST|ENET|ENOTFOUND|EAI_|ETIMEDOUT|EPIPE|ENOENT)/

/** An error of the database at `label`. */
export function postgresFault(label: string, cause: unknown): EvsysError {
  const message = messageOf(cause)
  return new EvsysError('STORE_FAILED', `the record ${label}: ${message}`, { cause, ...faultOf(cause, message) })
}

function faultOf(cause: unknown, message: string): Fault {
  const code = systemCode(cause) ?? systemCode(firstOf(cause)) ?? ''
  if (AWAY.test(code) || /connection (terminated|error|timeout)|timeout exceeded when trying/i.test(message))
    return away
  return BY_STATE.find(([begin]) => code.startsWith(begin))?.[1] ?? unknown
}

// A name with several addresses: one reason for each that was tried.
function firstOf(cause: unknown): unknown {
  return cause instanceof AggregateError ? cause.errors[0] : undefined
}

/** Whether the server undid a transaction because of others at the same time: doing it again is right. */
export function isCollision(cause: unknown): boolean {
  const code = systemCode(cause)
  return code === '40001' || code === '40P01'
}
