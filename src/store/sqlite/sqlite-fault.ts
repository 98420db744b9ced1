// What SQLite says went wrong, as an error that says what to do. Drivers leave out the number of some errors, so its fixed
// sentences are what an error is known by.
import { EvsysError, type EvsysErrorOptions, messageOf } from '../../kernel/index.ts'

type Fault = { readonly says: RegExp; readonly reason: string } & Pick<EvsysErrorOptions, 'fix' | 'retryable'>

const BUSY = /database (table )?is locked/

const FAULTS: readonly Fault[] = [
  {
    says: BUSY,
    reason: 'another process was writing all the time',
    fix: 'wait until it is done, then run the command again.',
    retryable: true,
  },
  {
    says: /database or disk is full/,
    reason: 'no space is left on the disk',
    fix: 'free some space (`df` shows how much), then run the command again: nothing that was acknowledged is lost.',
  },
  {
    says: /disk I\/O error/,
    reason: 'the disk failed or is full',
    fix: 'check the disk and its free space, then run the command again; the system log says more.',
  },
  {
    says: /readonly database/,
    reason: 'it cannot be written',
    fix: 'give this user write access to the file and to its folder.',
  },
  {
    says: /unable to open database file/,
    reason: 'it cannot be opened',
    fix: 'check that the folder exists, has space left, and that this user may write to it.',
  },
  {
    says: /malformed|not a database|fts5: corruption/,
    reason: 'the file is damaged, or is no database',
    fix: 'move it away and put a copy made by `evsys db backup` in its place; migrations leave copies beside it.',
  },
]

export function sqliteFault(file: string, cause: unknown): EvsysError {
  const message = messageOf(cause)
  const fault = FAULTS.find(({ says }) => says.test(message))
  return new EvsysError('STORE_FAILED', `the record ${file}: ${fault?.reason ?? message}`, {
    cause,
    fix: fault?.fix ?? 'run the command again; `evsys doctor` looks at the record.',
    retryable: fault?.retryable ?? false,
  })
}

/** Whether another connection holds the lock. */
export function isBusy(cause: unknown): boolean {
  return BUSY.test(messageOf(cause))
}
