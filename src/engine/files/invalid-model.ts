// A file of a model that cannot be used as it stands.
import type { Location } from '../../contracts/index.ts'
import { EvsysError } from '../../kernel/index.ts'

const again = 'download or export the model again.'

/** The error for a model's file: what is wrong with which file, and at which place of it. */
export function invalidModel(
  file: string,
  message: string,
  { where, fix = again }: { where?: Location; fix?: string } = {},
): EvsysError {
  return new EvsysError('MODEL_INVALID', `${file}: ${message}`, { fix, ...(where === undefined ? {} : { where }) })
}
