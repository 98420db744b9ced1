// The order of test files: those that take long begin first, so that no core waits for one of them at the end. The others
// follow as vitest orders them. Nothing but time depends on the list.
import { BaseSequencer, type TestSpecification } from 'vitest/node'

const slow = [
  'src/lab/workers/worker-pool',
  'src/kernel/plugins/plugin-host',
  'tests/mutated-plugins',
  'tests/lab/',
  'tests/trainer/same-metrics',
  'tests/engine/kernels.',
  'src/evaluate/scorer/open-scorer',
  'tests/cli/run',
  'tests/engine/cpu-',
  'tests/cli/repro',
  'tests/research/killed',
  'tests/sandbox/',
  'tests/research/bundled-tasks',
  'tests/trainer/kernel-crash',
  'tests/trainer/engine-host',
  'tests/stores/',
  'tests/docs',
  'tests/architecture',
  'src/kernel/blobs',
  'tests/cli/scaffolded-run',
  'src/models/bundled/',
  'tests/engine/',
  'tests/trainer/',
  'tests/weaknesses/',
  'tests/cli/',
  'tests/integration/python-client',
  'tests/integration/no-compiler',
  'tests/integration/fresh-clone',
  'tests/integration/sanitized-kernels',
  'tests/integration/packed-cli',
]

const rank = ({ moduleId, project }: TestSpecification) => {
  const found = slow.findIndex((part) => moduleId.includes(part))
  const place = found === -1 ? slow.length : found
  // Those that share a process one after another, or each would have to load all again.
  return project.config.isolate ? place : slow.length + 1 + place
}

export class SlowFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    return (await super.sort(files)).sort((a, b) => rank(a) - rank(b))
  }
}
