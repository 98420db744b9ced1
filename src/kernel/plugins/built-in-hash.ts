import type { PluginType } from '../../contracts/index.ts'
import { hashOf } from '../hash.ts'
import { hostVersion } from './host-package.ts'

/** The hash of a built-in's code: it changes only with a release. */
export function builtInHash({ type, kind }: { readonly type: PluginType; readonly kind: string }): string {
  return hashOf({ package: `evsys@${hostVersion()}`, type, kind })
}
