// Data files: rows in five formats, cards of datasets, compressed bytes.
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { parquetWriteBuffer } from 'hyparquet-writer'
import { readDataFile } from '../../src/data/files/data-file.ts'
import { findHubDataset } from '../../src/data/files/hub-dataset.ts'
import { unpackZstd, ZstdFault } from '../../src/kernel/index.ts'
import type { Input, Kind } from './kinds.ts'

const { signal } = new AbortController()
const deep = (count: number) => `${'['.repeat(count)}${']'.repeat(count)}`
const rows = Array.from({ length: 20 }, (_, at) => ({
  query: `what is ${at}?`,
  n: at,
  tags: ['a', { b: null }],
  text: '漢字 "x"',
}))

async function readAll(input: Input, dir: string, name: string): Promise<number> {
  const path = join(dir, name)
  writeFileSync(path, input)
  let count = 0
  for await (const { row } of readDataFile({ name, path }, { signal })) if (row !== undefined) count++
  return count
}

const jsonBombs = {
  'a hundred thousand levels in a row': () => `[{"a":${deep(100_000)}}]\n`,
  'a million rows that are no objects': () => `[${'1,'.repeat(1_000_000)}1]`,
  'half a million empty rows': () => `[${'{},'.repeat(500_000)}{}]`,
  'a row of thirty megabytes': () => `[{"a":"${'x'.repeat(30_000_000)}"}]`,
  'forty megabytes of zeros': () => Buffer.alloc(40_000_000),
  'forty megabytes of spaces': () => Buffer.alloc(40_000_000, 0x20),
  'a text without end': () => `[{"a":"${'\\"'.repeat(5_000_000)}`,
  'half a million keys': () => `[{${Array.from({ length: 500_000 }, (_, at) => `"k${at}":1`).join(',')}}]`,
  'levels without end': () => '['.repeat(5_000_000),
  'numbers of a million digits': () => `[{"a":${'9'.repeat(1_000_000)}}]`,
}

export const dataKinds: readonly Kind[] = [
  {
    name: 'JSON list',
    count: 900,
    seeds: () => [JSON.stringify(rows)],
    bombs: jsonBombs,
    use: (input, dir) => readAll(input, dir, 'd.json'),
  },
  {
    name: 'JSON Lines',
    count: 1200,
    seeds: () => [rows.map((row) => JSON.stringify(row)).join('\n')],
    bombs: {
      ...jsonBombs,
      'a million lines that are no JSON': () => '{\n'.repeat(1_000_000),
      'twenty million empty lines': () => '\n'.repeat(20_000_000),
    },
    use: (input, dir) => readAll(input, dir, 'd.jsonl'),
  },
  {
    name: 'CSV',
    count: 1200,
    seeds: () => [`query,n,text\n${rows.map(({ query, n }) => `"${query}",${n},"a ""b""\nc"`).join('\n')}\n`],
    bombs: {
      'quotes without end': () => `a,b\n"${'x,\n'.repeat(8_000_000)}`,
      'a line of thirty megabytes': () => `a,b\n${'x'.repeat(30_000_000)},1\n`,
      'two million columns': () => `${'a,'.repeat(2_000_000)}\n1\n`,
      'a hundred thousand columns, all different': () =>
        `${Array.from({ length: 100_000 }, (_, at) => `c${at}`).join(',')}\n${',\n'.repeat(1000)}`,
      'a million rows of another length': () => `a,b\n${'1\n'.repeat(1_000_000)}`,
      'forty megabytes of zeros': () => Buffer.alloc(40_000_000),
      'ten million quotes': () => `a\n${'"'.repeat(10_000_000)}`,
    },
    use: (input, dir) => readAll(input, dir, 'd.csv'),
  },
  {
    name: 'Parquet',
    count: 1500,
    seeds: () =>
      (['UNCOMPRESSED', 'SNAPPY'] as const).map(
        (codec) =>
          new Uint8Array(
            parquetWriteBuffer({
              codec,
              rowGroupSize: 8,
              columnData: [
                { name: 'text', data: rows.map(({ query }) => query), type: 'STRING' },
                { name: 'n', data: rows.map(({ n }) => BigInt(n)), type: 'INT64' },
                { name: 'tags', data: rows.map(({ tags }) => tags), type: 'JSON' },
              ],
            }),
          ),
      ),
    bombs: {
      'metadata of four gigabytes': () => Buffer.from('PAR1\xff\xff\xff\xffPAR1', 'latin1'),
      'metadata of zeros': () =>
        Buffer.concat([Buffer.from('PAR1'), Buffer.alloc(20_000_000), Buffer.from('\0-1\x01PAR1', 'latin1')]),
      'metadata that is one long list': () =>
        thrift(Buffer.concat([Buffer.from([0x29, 0xfc, 0xff, 0xff, 0xff, 0xff, 0x0f]), Buffer.alloc(1_000_000, 0x15)])),
      'metadata of levels without end': () => thrift(Buffer.alloc(1_000_000, 0x1c)),
    },
    use: (input, dir) => readAll(input, dir, 'd.parquet'),
  },
  {
    name: 'card of a dataset (YAML)',
    count: 300,
    seeds: () => [
      '---\nconfigs:\n- config_name: default\n  data_files:\n  - split: train\n    path: data/*.jsonl\n---\n# A dataset\n',
    ],
    bombs: {
      'a hundred thousand levels': () => `---\nconfigs: ${deep(100_000)}\n---\n`,
      'two hundred thousand keys': () =>
        `---\n${Array.from({ length: 200_000 }, (_, at) => `k${at}: 1`).join('\n')}\n---\n`,
      'aliases of aliases': () =>
        `---\na0: &a0 [x, x]\n${Array.from({ length: 30 }, (_, at) => `a${at + 1}: &a${at + 1} [*a${at}, *a${at}]`).join('\n')}\n---\n`,
      'patterns of stars': () => `---\nconfigs:\n- config_name: default\n  data_files: "${'**/'.repeat(30)}x"\n---\n`,
      'thirty megabytes': () => `---\na: 1\n${'x\n'.repeat(15_000_000)}`,
    },
    async use(input, dir) {
      mkdirSync(join(dir, 'data'))
      writeFileSync(join(dir, 'data', `${'a'.repeat(100)}.jsonl`), '{"a":1}\n')
      writeFileSync(join(dir, 'README.md'), input)
      return findHubDataset('./d', { folder: () => dir })
    },
  },
  {
    name: 'zstd',
    count: 1500,
    seeds: () => zstdSeeds,
    bombs: {
      'a gigabyte of zeros': () => runs(0, 8192),
      'ten thousand empty frames': () =>
        Buffer.concat(Array.from({ length: 10_000 }, () => Buffer.from('28b52ffd0000010000', 'hex'))),
      'a window of a terabyte': () => Buffer.from('28b52ffd00f0010000', 'hex'),
    },
    async use(input) {
      try {
        return unpackZstd(Buffer.from(input as Uint8Array), 2 ** 27).length
      } catch (error) {
        if (error instanceof ZstdFault) return 'refused'
        throw error
      }
    },
  },
]

// A footer as Parquet has it: metadata, its length, the magic word.
function thrift(metadata: Buffer): Buffer {
  const length = Buffer.alloc(4)
  length.writeUInt32LE(metadata.length)
  return Buffer.concat([Buffer.from('PAR1'), metadata, length, Buffer.from('PAR1')])
}

// Blocks that are one byte many times: 128 KiB in four bytes.
function runs(byte: number, blocks: number): Buffer {
  const block = Buffer.from([
    0x02 | (((2 ** 17) << 3) & 0xff),
    (((2 ** 17) << 3) >> 8) & 0xff,
    ((2 ** 17) << 3) >> 16,
    byte,
  ])
  return Buffer.concat([Buffer.from('28b52ffd0058', 'hex'), ...Array.from({ length: blocks }, () => block)])
}

// Packed by the reference implementation with a checksum: prose, a repetition; then a frame of runs.
const zstdSeeds: readonly Uint8Array[] = [
  Buffer.from(
    [
      'KLUv/WS8AX0IALZRMRxwbTogppq0o4lspHbN0g0PtxGO8UER8VeAHokaKQApACkALJNXj/lK4eUxg2d9c6p3rJzJZFxWmJYPtz9ucOHd8TGRJJF2qskMBgS7',
      'LI1AV7+MRNnlK+RNdOQc651DM9+WD+Qe6NOx581X6z31sDIsldGBAmqtKELNusuKLr3afCLKt3hntT+QO+Ao2URHkZ32dZQky55aqyNdJTM0uKmlWuhsO7Kb',
      'ZC2tV6vU7vqmnK2GD4jCwsc0AXMpxBJm8rVM6rYeGwBNEVSRuyYz7DOthAgIOA8MH4OZBdBOGUhFQuY6wVN+yi/c2AVscADBgM32uh3pqSjDjJ8prjgeMlZg',
      'Pk+2sIIiNMmuZQ9wVABx',
    ].join(''),
    'base64',
  ),
  Buffer.from('KLUv/WSjDnUAADhhYmMgZW5kAQCZ33dEOT+Bcg==', 'base64'),
  runs(65, 3),
]
