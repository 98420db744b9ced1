// A run to hand to a worker: a few chats, the mock backend, one step. Tests change what they are about.
import { join } from 'node:path'
import { RunAssignment } from '../src/contracts/index.ts'

type Changes = Partial<Omit<RunAssignment, 'config'>> & { config?: Partial<RunAssignment['config']> | undefined }

let runs = 0

/** An assignment with folders of its own below `dir`. */
export function runAssignment(dir: string, { config = {}, ...changes }: Changes = {}): RunAssignment {
  runs += 1
  const name = `run-${runs}`
  const runDir = join(dir, '.evsys', 'runs', name)
  return RunAssignment.parse({
    experiment_id: 'exp_1',
    experiment: 'test',
    run_id: `run_${runs}`,
    run_name: name,
    arm: 'arm',
    attempt: 1,
    config: {
      name,
      data: {
        source_kind: 'in_memory',
        rows: ['ab', 'ba'].map((text) => ({
          messages: [
            { role: 'user', content: text },
            { role: 'assistant', content: text },
          ],
        })),
      },
      model: { name: 'evsys/tiny' },
      algorithm: { kind: 'sft', params: { max_steps: 1, batch_size: 1 } },
      backend: { kind: 'mock' },
      ...config,
    },
    config_hash: 'hash',
    run_dir: runDir,
    segment_file: join(runDir, 'segments', '1.jsonl'),
    next_item: 1,
    next_event: 1,
    benchmarks: [],
    callbacks: [],
    project_dir: dir,
    plugin_files: [],
    log_rollouts: false,
    checkpoints_kept: 3,
    ...changes,
  })
}
