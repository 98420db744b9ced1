// A controller to be killed: `pool-controller PROJECT`, a project with the hostile plugin. One run never leaves its loop, one has
// started a program. Prints the pids of both workers and of the program, then the folders of the runs.
import { once } from 'node:events'
import { readFile } from 'node:fs/promises'
import { setTimeout } from 'node:timers/promises'
import { holderFile } from '../../src/lab/workers/run-holder.ts'
import { createWorkerPool } from '../../src/lab/workers/worker-pool.ts'
import type { Act } from '../hostile-plugin.ts'
import { runAssignment } from '../run-assignment.ts'

const [project = ''] = process.argv.slice(2)
const pool = createWorkerPool({ size: 2, projectDir: project })
const { signal } = new AbortController()

const acts: Act[] = ['loop for ever', 'start a program']
const assignments = acts.map((act) => {
  const assignment = runAssignment(`${project}/controller-${process.pid}`)
  const transforms = [{ kind: 'act', params: { act, ms: 2 ** 30 } }]
  return { ...assignment, config: { ...assignment.config, data: { ...assignment.config.data, transforms } } }
})
for (const assignment of assignments) {
  const options = { onWritten() {}, onEvaluate: () => Promise.reject(new Error('none')), stopping: signal, signal }
  pool.run(assignment, options).catch(() => {})
}

const read = async (file: string, found: RegExp): Promise<number> => {
  for (;;) {
    const match = found.exec(await readFile(file, 'utf8').catch(() => ''))
    if (match?.[1] !== undefined) return Number(match[1])
    await setTimeout(20)
  }
}
const workers = await Promise.all(assignments.map(({ run_dir }) => read(holderFile(run_dir), /"pid":(\d+)/)))
const program = await read(assignments[1]?.segment_file ?? '', /child (\d+)/)
process.stdout.write(`${JSON.stringify([...workers, program])}\n`)
process.stdout.write(`${JSON.stringify(assignments.map(({ run_dir }) => run_dir))}\n`)
await once(process, 'never')
