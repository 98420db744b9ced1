// Files that people write: experiments, task folders, benchmarks, jobs, Dockerfiles.
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { loadExperiment } from '../../src/config/index.ts'
import { readBenchmarkFolder } from '../../src/evaluate/index.ts'
import { readJobFile } from '../../src/lab/trials/read-job-file.ts'
import { parseDockerfile } from '../../src/rollout/environments/dockerfile.ts'
import { loadTaskFolder } from '../../src/rollout/index.ts'
import { corpus } from '../mutated-experiments.ts'
import type { Input, Kind } from './kinds.ts'

const text = (input: Input) => (typeof input === 'string' ? input : Buffer.from(input).toString('utf8'))
const lines = (count: number, line: (at: number) => string) =>
  Array.from({ length: count }, (_, at) => line(at)).join('\n')
const deep = (count: number) => `${'['.repeat(count)}${']'.repeat(count)}`
const aliases = `a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n${lines(20, (at) => `a${at + 1}: &a${at + 1} [${`*a${at}, `.repeat(10)}]`)}\n`
const { signal } = new AbortController()

const yamlBombs = {
  'a hundred thousand levels': () => `name: ${deep(100_000)}\n`,
  'a hundred thousand levels of mappings': () => `name: ${'{a: '.repeat(100_000)}`,
  'aliases of aliases': () => aliases,
  'two hundred thousand unknown keys': () => `name: x\n${lines(200_000, (at) => `key${at}: 1`)}\n`,
  'fifty thousand equal keys': () => `name: x\n${'same: 1\n'.repeat(50_000)}`,
  'a million items': () => `name: [${'1,'.repeat(1_000_000)}]\n`,
  'a line of three megabytes': () => `name: ${'x'.repeat(3_000_000)}\n`,
  'ten megabytes': () => `name: x\n${'# a comment\n'.repeat(900_000)}`,
  'a hundred thousand faults': () => `name: x\n${'- ]\n: {\n'.repeat(50_000)}`,
  'a hundred thousand anchors': () => lines(100_000, (at) => `k${at}: &a${at} 1`),
  'merge keys of merge keys': () =>
    `a0: &a0 {x: 1}\n${lines(5000, (at) => `a${at + 1}: &a${at + 1}\n  <<: *a${at}\n  k${at}: 1`)}\n`,
}

export const configKinds: readonly Kind[] = [
  {
    name: 'experiment (YAML)',
    count: 1500,
    seeds: () => Object.values(corpus),
    bombs: {
      ...yamlBombs,
      'a matrix of ten thousand million arms': () =>
        `${corpus.full ?? Object.values(corpus)[0]}\nmatrix:\n  axes:\n${lines(10, (at) => `    model.a${at}: [${'1, '.repeat(10)}]`)}\n`,
      'a hundred thousand wrong values': () => `name: x\nmetadata:\n  tags:\n${'    - {}\n'.repeat(100_000)}`,
    },
    use: (input) => loadExperiment({ file: 'e.yaml', text: text(input) }, { cwd: '/project' }),
  },
  {
    name: 'benchmark folder (YAML, JSON Lines)',
    count: 600,
    seeds: () => [
      'name: b\nmetadata: { a: 1 }\n',
      `${JSON.stringify({ task_id: 'a', instruction: 'x', verifier: { kind: 'exact_match', params: { expected: 'y' } } })}\n`,
    ],
    bombs: yamlBombs,
    async use(input, dir) {
      const rows = /^\s*\{/.test(text(input))
      writeFileSync(join(dir, 'metadata.yaml'), rows ? 'name: b\n' : input)
      writeFileSync(join(dir, 'tasks.jsonl'), rows ? input : '{"task_id":"a","instruction":"x"}\n')
      return readBenchmarkFolder(dir, { signal })
    },
  },
  {
    name: 'job file (YAML)',
    count: 500,
    seeds: () => ['agents: [{ name: oracle }]\ndatasets: [{ path: tasks, n_tasks: 2 }]\nn_attempts: 2\n'],
    bombs: yamlBombs,
    async use(input, dir) {
      writeFileSync(join(dir, 'job.yaml'), input)
      return readJobFile(join(dir, 'job.yaml'), dir)
    },
  },
  {
    name: 'task folder (TOML)',
    count: 1500,
    seeds: () => [
      'schema_version = "1.4"\n[task]\nname = "a/b"\n[environment]\nnetwork_mode = "no-network"\nworkdir = "/app"\nmemory_mb = 512\n[environment.env]\nA = "${B:-c}"\n[agent]\ntimeout_sec = 10.5\n[verifier]\ntimeout_sec = 5\n',
      'version = "1.0"\nartifacts = ["/app/a", { source = "/b", destination = "c" }]\n[environment]\nmemory = "2G"\n[[steps]]\nname = "one"\n[[steps]]\nname = "two"\n[steps.agent]\ntimeout_sec = 1\n',
    ],
    bombs: {
      'a hundred thousand levels': () => `a = ${deep(100_000)}\n`,
      'a hundred thousand levels of tables': () => `[${'a.'.repeat(100_000)}a]\n`,
      'two hundred thousand unknown keys': () => lines(200_000, (at) => `key${at} = 1`),
      'twenty thousand wrong values': () => `artifacts = [${'1, '.repeat(20_000)}]\n`,
      'twenty thousand misspelled keys': () => `[environment]\n${lines(20_000, (at) => `workdir${at} = "/"`)}`,
      'five thousand steps': () => lines(5000, (at) => `[[steps]]\nname = "s${at}"`),
      'a line of three megabytes': () => `a = "${'x'.repeat(3_000_000)}"\n`,
      'ten megabytes': () => '# a comment\n'.repeat(900_000),
    },
    async use(input, dir) {
      for (const folder of ['environment', 'tests', 'steps/one']) mkdirSync(join(dir, folder), { recursive: true })
      for (const name of ['instruction.md', 'tests/test.sh', 'steps/one/instruction.md'])
        writeFileSync(join(dir, name), 'x')
      writeFileSync(join(dir, 'task.toml'), input)
      return loadTaskFolder(dir)
    },
  },
  {
    name: 'Dockerfile',
    count: 500,
    seeds: () => [
      'FROM ubuntu:24.04 AS base\nENV A=1 B="two words"\nRUN apt-get update && \\\n  apt-get install -y git\nCOPY ["a b", "/app/"]\nWORKDIR /app\nRUN <<EOF\necho hi\nEOF\nFROM base\nARG X=${A:-y}\nCMD ["bash", "-c", "true"]\n',
    ],
    bombs: {
      'a million instructions': () => `FROM x\n${'RUN true\n'.repeat(400_000)}`,
      'a line of three megabytes': () => `FROM x\nENV ${'A=1 '.repeat(750_000)}`,
      'a million continued lines': () => `FROM x\nRUN true${' \\\n'.repeat(1_000_000)}`,
      'a list of a hundred thousand levels': () => `FROM x\nCMD ${deep(100_000)}`,
      'quotes without end': () => `FROM x\nENV A="${'\\"'.repeat(1_000_000)}`,
    },
    use: async (input) => parseDockerfile(text(input), 'Dockerfile'),
  },
]
