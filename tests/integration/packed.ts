// The published package, as tests use it.

import { inject } from 'vitest'

/** Path of the tarball that `npm pack` makes of the working tree; packed once per run of the integration lane. */
export function packOnce(): string {
  return inject('tarball')
}
