// What evsys itself wrote and reads again, where others can reach it, and what models and tests answer.
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { gunzipSync } from 'node:zlib'
import { AtifTrajectory } from '../../src/contracts/index.ts'
import { firstJsonObject, firstJsonValue } from '../../src/evaluate/verifiers/json-answer.ts'
import { temporaryFolder } from '../../src/kernel/index.ts'
import { readSegment } from '../../src/lab/workers/segment-reader.ts'
import { openCassette } from '../../src/models/inference/cassette.ts'
import { exportExperiment } from '../../src/record/bundle/export-experiment.ts'
import { readBundle } from '../../src/record/bundle/read-bundle.ts'
import { readResultsLog } from '../../src/record/log/read-results-log.ts'
import { applyPatch } from '../../src/research/propose/code/apply-patch.ts'
import { parseReply } from '../../src/research/propose/llm/parse-reply.ts'
import { readTerminalReply } from '../../src/rollout/agents/terminal-reply.ts'
import { parseRewards, readRewardFiles } from '../../src/rollout/trial/rewards.ts'
import { openStore } from '../../src/store/index.ts'
import type { Input, Kind } from './kinds.ts'

const text = (input: Input) => (typeof input === 'string' ? input : Buffer.from(input).toString('utf8'))
const deep = (count: number) => `${'['.repeat(count)}${']'.repeat(count)}`
const { signal } = new AbortController()

const notice = (n: number) =>
  JSON.stringify({
    n,
    item: { type: 'notice', seq: n, at: '2026-01-01T00:00:00.000Z', run_id: 'run_1', text: `item ${n}` },
  })
const key = 'a'.repeat(64)
const entry = {
  version: 1,
  key,
  client: { kind: 'mock', params: { model: 'm' } },
  request: { messages: [{ role: 'user', content: 'x' }] },
  answer: { text: 'y', usage: { promptTokens: 1, completionTokens: 1, latencyS: 0.1 }, stopReason: 'stop' },
}
const trajectory = {
  schema_version: 'ATIF-v1.7',
  session_id: 's',
  agent: { name: 'a', version: '1' },
  steps: [
    { step_id: 1, source: 'user', message: 'do it' },
    {
      step_id: 2,
      source: 'agent',
      message: 'done',
      tool_calls: [{ tool_call_id: 'c', function_name: 'f', arguments: { a: 1 } }],
    },
  ],
}
const files = { 'train.py': Array.from({ length: 40 }, (_, at) => `line ${at}`).join('\n'), 'b/c.py': 'x = 1\n' }
const patch =
  '--- a/train.py\n+++ b/train.py\n@@ -1,4 +1,4 @@\n line 0\n-line 1\n+line one\n line 2\n line 3\n--- /dev/null\n+++ b/new.py\n@@ -0,0 +1,1 @@\n+y = 2\n'

async function bundles(): Promise<string[]> {
  const file = join(temporaryFolder('malformed'), 'evsys.db')
  writeFileSync(file, gunzipSync(readFileSync(join(process.cwd(), 'tests/fixtures/record-v1.db.gz'))))
  await using store = await openStore(file, { signal })
  const [experiment] = (await store.experiments({ limit: 5 })).filter(({ verdict }) => verdict !== undefined)
  return experiment === undefined ? [] : [JSON.stringify(await exportExperiment(store, experiment))]
}

const jsonBombs = {
  'a hundred thousand levels': () => `{"a":${deep(100_000)}}`,
  'levels without end': () => '{"a":'.repeat(1_000_000),
  'half a million keys': () => `{${Array.from({ length: 500_000 }, (_, at) => `"k${at}":1`).join(',')}}`,
  'a text without end': () => `{"a":"${'\\"'.repeat(2_000_000)}`,
}

export const recordKinds: readonly Kind[] = [
  {
    name: 'export of an experiment',
    count: 600,
    seeds: bundles,
    bombs: {
      ...jsonBombs,
      'ten megabytes of keys': () => `{${Array.from({ length: 700_000 }, (_, at) => `"k${at}":{}`).join(',')}}`,
    },
    use: async (input) => readBundle(text(input), 'e.json'),
  },
  {
    name: 'segment of a run',
    count: 900,
    seeds: () => [Array.from({ length: 20 }, (_, at) => `${notice(at + 1)}\n`).join('')],
    bombs: {
      'a line of eighty megabytes': () => Buffer.alloc(80_000_000, 0x78),
      'a million lines of the wrong number': () => `${notice(1)}\n`.repeat(200_000),
      'an item of a hundred thousand levels': () => `{"n":1,"item":${deep(100_000)}}\n`,
      'an item of half a million keys': () =>
        `{"n":1,"item":{${Array.from({ length: 500_000 }, (_, at) => `"k${at}":1`).join(',')}}}\n`,
    },
    async use(input, dir) {
      const file = join(dir, 's.jsonl')
      writeFileSync(file, input)
      const reader = readSegment(file, 1, { runId: 'run_1' })
      try {
        while ((await reader.next(100)).length > 0);
      } finally {
        await reader.close()
      }
    },
  },
  {
    name: 'cassette',
    count: 800,
    seeds: () => [JSON.stringify(entry)],
    bombs: { ...jsonBombs, 'ninety megabytes': () => Buffer.alloc(90_000_000, 0x20) },
    async use(input, dir) {
      writeFileSync(join(dir, `${key}.json`), input)
      return openCassette({ folder: dir, mode: 'replay' }, (value) => value).read(key)
    },
  },
  {
    name: 'ATIF trajectory',
    count: 500,
    seeds: () => [JSON.stringify(trajectory)],
    bombs: {
      'a hundred thousand steps': () =>
        JSON.stringify({
          ...trajectory,
          steps: Array.from({ length: 100_000 }, (_, at) => ({ step_id: at + 1, source: 'user', message: 'x' })),
        }),
      ...jsonBombs,
    },
    async use(input) {
      let value: unknown
      try {
        value = JSON.parse(text(input))
      } catch {
        return 'refused'
      }
      return AtifTrajectory.safeParse(value).success ? 'used' : 'refused'
    },
  },
  {
    name: 'patch',
    count: 800,
    seeds: () => [patch],
    bombs: {
      'a hundred thousand hunks': () =>
        `--- a/train.py\n+++ b/train.py\n${'@@ -1,1 +1,1 @@\n-line 0\n+x\n'.repeat(100_000)}`,
      'a hundred thousand files': () =>
        Array.from({ length: 100_000 }, (_, at) => `--- /dev/null\n+++ b/f${at}\n@@ -0,0 +1,1 @@\n+x\n`).join(''),
      'a hunk of a million lines': () =>
        `--- a/train.py\n+++ b/train.py\n@@ -1,1000000 +1,1000000 @@\n${' line 0\n'.repeat(1_000_000)}`,
      'numbers without end': () => `--- a/train.py\n+++ b/train.py\n@@ -${'9'.repeat(100_000)} +1 @@\n line 0\n`,
    },
    use: async (input) => applyPatch(files, text(input)),
  },
  {
    name: 'reply of a model',
    count: 800,
    seeds: () => [
      `Here is it:\n\`\`\`json\n${JSON.stringify({ ideas: [{ title: 't', hypothesis: 'h', change: { kind: 'knobs', knobs: { lr: 0.1 } } }] })}\n\`\`\`\n`,
      `${JSON.stringify({ analysis: 'a', plan: 'p', commands: [{ keystrokes: 'ls\n', duration: 1 }], task_complete: false })}`,
      '<response><analysis>a</analysis><plan>p</plan><commands><keystrokes duration="1">ls\n</keystrokes></commands></response>',
    ],
    bombs: {
      'a million braces': () => '{'.repeat(1_000_000),
      'a million braces that close': () => '{}'.repeat(500_000),
      'a million brackets': () => '['.repeat(1_000_000),
      'fences in fences': () => '```json\n{\n'.repeat(200_000),
      'quotes and braces': () => '{"'.repeat(500_000),
      'tags without end': () => '<response><commands><keystrokes>'.repeat(50_000),
    },
    async use(input) {
      const reply = text(input)
      parseReply(reply, { most: 3, files: ['train.py'] })
      firstJsonObject(reply)
      firstJsonValue(reply)
      readTerminalReply(reply, 'json')
      readTerminalReply(reply, 'xml')
    },
  },
  {
    name: 'rewards of a verifier',
    count: 400,
    seeds: () => ['{"reward": 0.5, "b": 1}', '0.25\n'],
    bombs: {
      ...jsonBombs,
      'a million digits': () => '9'.repeat(1_000_000),
      'ninety megabytes': () => Buffer.alloc(90_000_000, 0x31),
    },
    async use(input, dir) {
      writeFileSync(join(dir, text(input).startsWith('{') ? 'reward.json' : 'reward.txt'), input)
      return parseRewards(await readRewardFiles(dir))
    },
  },
  {
    name: 'log of research (TSV)',
    count: 400,
    seeds: () => [
      'commit\tval_bpb\tmemory_gb\tstatus\tdescription\na1\t0.9979\t44.0\tkeep\tbaseline\nb2\t0.99\t44.2\tdiscard\tx\n',
    ],
    bombs: {
      'a million wrong rows': () => `commit\tval_bpb\tstatus\tdescription\n${'x\n'.repeat(1_000_000)}`,
      'a million columns': () => `${'a\t'.repeat(1_000_000)}\n`,
      'a million rows': () => `commit\tval_bpb\tstatus\tdescription\n${'a\t1\tkeep\tx\n'.repeat(500_000)}`,
    },
    use: async (input) => readResultsLog(text(input), { file: 'r.tsv' }),
  },
]
