import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { afterEach, describe, expect, it, vi } from 'vitest'
import { collect } from '../../../tests/collect.ts'
import { rowRequest } from '../../../tests/row-request.ts'
import { temporaryFolders } from '../../../tests/temporary-folder.ts'
import { openRows } from '../cache/open-rows.ts'

const folder = temporaryFolders()
const line = (text: string) => `${JSON.stringify({ messages: [{ role: 'user', content: text }] })}\n`
afterEach(() => vi.unstubAllEnvs())

function write(dir: string, files: Record<string, string>) {
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(dirname(join(dir, name)), { recursive: true })
    writeFileSync(join(dir, name), text)
  }
  return dir
}

const places = async (data: object, projectDir = folder()) => {
  const opened = await openRows(
    rowRequest({ source_kind: 'hf_dataset', ...data }, { format: 'chat_messages', projectDir }),
  )
  return (await collect(opened.rows())).map(({ row, place }) => `${place} ${row.messages[0]?.content}`)
}

describe('a Hugging Face dataset', () => {
  it('in a folder has the splits that the names of its files tell (DATA-7)', async () => {
    const dir = write(folder(), {
      'data/train-00000-of-00002.jsonl': line('a'),
      'data/train-00001-of-00002.jsonl': line('b'),
      'data/test.jsonl': line('c'),
      'dev/part.jsonl': line('d'),
      'README.md': '# A dataset\n',
    })
    const project = write(folder(), {})
    expect(await places({ hf_dataset: dir }, project)).toEqual([
      `${dir}/data/train-00000-of-00002.jsonl:1 a`,
      `${dir}/data/train-00001-of-00002.jsonl:1 b`,
    ])
    expect(await places({ hf_dataset: dir, hf_split: 'test' })).toEqual([`${dir}/data/test.jsonl:1 c`])
    expect(await places({ hf_dataset: dir, hf_split: 'validation' })).toEqual([`${dir}/dev/part.jsonl:1 d`])
    await expect(places({ hf_dataset: dir, hf_split: 'tset' })).rejects.toMatchObject({
      code: 'DATA_READ',
      fix: expect.stringContaining('"test"'),
    })
  })

  it('has the splits of its card, by configuration (DATA-7)', async () => {
    const card = [
      '---',
      'configs:',
      '- config_name: main',
      '  default: true',
      '  data_files:',
      '  - split: train',
      '    path: main/*.jsonl',
      '- config_name: socratic',
      '  data_files: { train: "socratic/**", extra: [more.jsonl] }',
      '---',
      '# Card',
    ].join('\n')
    const dir = write(folder(), {
      'README.md': card,
      'main/x.jsonl': line('m'),
      'socratic/deep/y.jsonl': line('s'),
      'more.jsonl': line('e'),
    })
    expect(await places({ hf_dataset: dir })).toEqual([`${dir}/main/x.jsonl:1 m`])
    const socratic = { hf_dataset: dir, params: { config: 'socratic' } }
    expect(await places(socratic)).toEqual([`${dir}/socratic/deep/y.jsonl:1 s`])
    expect(await places({ ...socratic, hf_split: 'extra' })).toEqual([`${dir}/more.jsonl:1 e`])
    await expect(places({ hf_dataset: dir, params: { config: 'mian' } })).rejects.toThrow('no configuration "mian"')
  })

  it('is found in the cache of Hugging Face tools, without a network (DATA-7)', async () => {
    const cache = folder()
    const commit = 'a'.repeat(40)
    const home = join(cache, 'datasets--acme--chat')
    write(home, { 'refs/main': commit, 'blobs/1': line('hub'), [`snapshots/${commit}/data/.keep`]: '' })
    symlinkSync('../../../blobs/1', join(home, 'snapshots', commit, 'data', 'train.jsonl'))
    vi.stubEnv('HF_HUB_CACHE', cache)
    expect(await places({ hf_dataset: 'acme/chat' })).toEqual(['acme/chat/data/train.jsonl:1 hub'])
    await expect(places({ hf_dataset: 'acme/none' })).rejects.toMatchObject({
      code: 'DATA_READ',
      fix: expect.stringContaining('hf download acme/none --repo-type dataset'),
    })
    for (const hostile of ['../acme', 'a/../../b', 'acme/chat/x', '']) {
      await expect(places(hostile === '' ? {} : { hf_dataset: hostile })).rejects.toMatchObject({ code: 'DATA_READ' })
    }
  })
})

describe('a folder of files', () => {
  it('is read in order, with a label for each file (DATA-7)', async () => {
    const dir = write(folder(), {
      'data/b.jsonl': line('two'),
      'data/a.csv': 'messages\n"[{""role"":""user"",""content"":""one""}]"\n',
      'data/notes.txt': 'no rows',
    })
    const label = [{ kind: 'filter', params: { field: 'from', equals: 'b' } }]
    const data = { source_kind: 'folder', path: join(dir, 'data'), params: { label: 'from' }, transforms: label }
    expect(await places(data, dir)).toEqual(['data/b.jsonl:1 two'])
    await expect(places({ source_kind: 'folder', path: folder() })).rejects.toThrow('holds no file of rows')
  })
})
