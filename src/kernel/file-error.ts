// Failures of the file system as our errors: the path, the reason in words, and what to do about it.
import { EvsysError, messageOf } from './evsys-error.ts'

/** An error for a failed file operation: `fileError('write', path, cause)`. */
export function fileError(action: string, path: string, cause: unknown): EvsysError {
  const known = reasons[systemCode(cause) ?? '']
  const reason = known?.reason ?? messageOf(cause)
  return new EvsysError('FILE_FAILED', `cannot ${action} ${path}: ${reason}`, {
    cause,
    fix: known?.fix ?? 'check that the path is right and that this user may use it.',
  })
}

/** What a file operation gives; its failure is a `fileError`. */
export async function fileWork<T>(action: string, path: string, work: () => Promise<T>): Promise<T> {
  try {
    return await work()
  } catch (cause) {
    throw EvsysError.is(cause) ? cause : fileError(action, path, cause)
  }
}

/** The same, and undefined where there is no such file or folder. */
export async function ifPresent<T>(action: string, path: string, work: () => Promise<T>): Promise<T | undefined> {
  return fileWork(action, path, async () => {
    try {
      return await work()
    } catch (cause) {
      if (systemCode(cause) === 'ENOENT') return undefined
      throw cause
    }
  })
}

/** The operating system's code of a failure (`ENOENT`), also when one of our errors wraps it. */
export function systemCode(error: unknown): string | undefined {
  if (typeof error !== 'object' || error === null) return undefined
  if (EvsysError.is(error)) return systemCode(error.cause)
  const code: unknown = Reflect.get(error, 'code')
  return typeof code === 'string' ? code : undefined
}

/** Whether a code of the operating system means that nothing more can be stored here. */
export function isDiskFull(code: string | undefined): boolean {
  return code === 'ENOSPC' || code === 'EDQUOT'
}

/** The same of an error of `fileError` that crossed a process as data: its fixed words are what is left of the cause. */
export function isDiskFullError({ code, message }: { code: string; message: string }): boolean {
  return (
    code === 'FILE_FAILED' && [reasons.ENOSPC, reasons.EDQUOT].some((known) => known && message.includes(known.reason))
  )
}

const reasons: Record<string, { reason: string; fix: string }> = {
  ENOSPC: { reason: 'no space is left on the disk', fix: 'free some space (`df` shows how much), then try again.' },
  EDQUOT: { reason: 'the disk quota is used up', fix: 'delete files or ask for a larger quota, then try again.' },
  EFBIG: {
    reason: 'the file is larger than allowed here',
    fix: 'raise the file size limit (`ulimit -f`), or use another disk.',
  },
  EACCES: { reason: 'permission denied', fix: 'give this user access to the file and to every folder above it.' },
  EPERM: { reason: 'operation not permitted', fix: 'check owner and attributes of the file and its folder.' },
  EROFS: { reason: 'the disk is mounted read-only', fix: 'use a folder on a writable disk.' },
  EISDIR: { reason: 'it is a folder', fix: 'name a file, or move the folder away.' },
  ENOTDIR: { reason: 'a part of the path is a file, not a folder', fix: 'correct the path, or move that file away.' },
  ENOENT: { reason: 'no such file or folder', fix: 'check the spelling, and create the folder if it is missing.' },
  EEXIST: { reason: 'it exists already', fix: 'choose another name, or move the existing one away.' },
  ENAMETOOLONG: { reason: 'the name is too long', fix: 'choose a shorter name.' },
  ELOOP: { reason: 'its symbolic links form a loop', fix: 'remove the link that points back.' },
  EMFILE: { reason: 'too many files are open', fix: 'raise the limit (`ulimit -n`), or run less at once.' },
  ENFILE: { reason: 'the machine has too many open files', fix: 'close other programs, then try again.' },
  EBUSY: { reason: 'it is in use', fix: 'close the program that uses it, then try again.' },
  EIO: { reason: 'the disk failed', fix: 'check the disk; the system log says more.' },
  ENXIO: { reason: 'it is a device or socket, not a file', fix: 'name a regular file.' },
}
