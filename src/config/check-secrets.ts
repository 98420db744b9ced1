// Secrets that an experiment refers to. A reference that is no reference is an error, since it would be sent as it stands; a
// secret that is not set is a notice, since it may be set where the run goes.
import { findSecrets, type SecretSource } from '../kernel/index.ts'
import { nearest } from './check-node.ts'
import { type LocatedMap, toJs } from './located.ts'
import type { Report } from './report.ts'

export function checkSecrets(trees: Iterable<LocatedMap>, source: SecretSource, report: Report): void {
  for (const tree of trees) {
    for (const { name, text, path } of findSecrets(toJs(tree))) {
      const { node } = nearest(tree, path)
      if (text !== `\${secret:${name}}` || !/^[A-Za-z_]\w*$/.test(name)) {
        const message = `${JSON.stringify(text)} is no reference to a secret`
        const fix = 'write ${secret:NAME}, where NAME has letters, digits and _.'
        report.problem(node.origin, { code: 'CONFIG_INVALID', message, fix })
      } else if (source.get(name) === undefined) {
        report.notice(`The secret ${name} is not set: set it ${source.hint}.`, node.origin)
      }
    }
  }
}
