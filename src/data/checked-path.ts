// Paths inside a data store: relative, with `/`, and never out of it.
import { EvsysError } from '../kernel/index.ts'

/** The path itself, or an error where it is absolute, steps up, or holds what no file name can. */
export function checkedPath(path: string): string {
  const steps = path.split('/')
  const isSound = steps.every((step) => step !== '' && step !== '.' && step !== '..' && !/[\\\0]/.test(step))
  if (isSound && !/^[A-Za-z]:/.test(path)) return path
  throw new EvsysError('DATA_READ', `"${path}" is not a path inside the data store`, {
    fix: 'write a relative path with /, without . and ..: `datasets/train.jsonl`.',
  })
}
