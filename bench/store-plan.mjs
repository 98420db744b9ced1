// A plan with one run, for benches that need something in the record.

import { Plan } from '../dist/contracts/index.js'

export function planOf() {
  const config = {
    name: 'bench',
    data: { source_kind: 'jsonl', path: 'train.jsonl' },
    model: { name: 'evsys/tiny' },
    algorithm: { kind: 'sft' },
    seed: 1,
  }
  return Plan.parse({
    experiment: { version: 1, name: 'bench', runs: [config] },
    config_hash: 'bench',
    arms: [{ name: 'bench', params: {}, seeds: [1] }],
    runs: [{ name: 'bench', arm: 'bench', seed: 1, config, config_hash: 'bench' }],
    notices: [],
  })
}
