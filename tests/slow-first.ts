// The order of test files: those that take long begin first, so that no core waits for one of them at the end. The others
// follow as vitest orders them. Nothing but time depends on the list.
import { BaseSequencer, type TestSpecification } from 'vitest/node'

const slow = [
  'tests/mutated-plugins',
  'src/lab/worker/worker-pool',
  'src/kernel/plugins/plugin-host',
  'tests/cli/run-signals',
  'tests/cli/run.',
  'src/evaluate/scorer/open-scorer',
  'tests/lab/',
  'src/kernel/blobs',
  'tests/trainer/same-metrics',
  'src/lab/worker/core-leases',
  'src/models/bundled/',
  'tests/cli/scaffolded-run',
  'tests/architecture',
  'tests/docs',
  'tests/stores/',
  'tests/integration/python-client',
  'tests/integration/no-compiler',
  'tests/integration/fresh-clone',
  'tests/integration/sanitized-kernels',
]

const rank = ({ moduleId }: TestSpecification) => {
  const place = slow.findIndex((part) => moduleId.includes(part))
  return place === -1 ? slow.length : place
}

export class SlowFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    return (await super.sort(files)).sort((a, b) => rank(a) - rank(b))
  }
}
