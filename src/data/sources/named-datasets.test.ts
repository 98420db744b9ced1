import { readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { collect } from '../../../tests/collect.ts'
import { rowRequest } from '../../../tests/row-request.ts'
import { temporaryFolders } from '../../../tests/temporary-folder.ts'
import { DataConfig } from '../../contracts/index.ts'
import { openRows } from '../cache/open-rows.ts'
import { requireStoredData } from './dataset-sources.ts'
import { openNamedDatasets } from './named-datasets.ts'

const folder = temporaryFolders()
const { signal } = new AbortController()
const line = (text: string) => `${JSON.stringify({ messages: [{ role: 'user', content: text }] })}\n`

function project() {
  const dir = folder()
  const datasets = openNamedDatasets(dir)
  const add = (name: string, text: string, file = 'train.jsonl') => {
    const path = join(dir, file)
    writeFileSync(path, text)
    return datasets.add(name, path, { from: file, signal })
  }
  const rows = async (data: object) => {
    const opened = await openRows(
      rowRequest(data, { format: 'chat_messages', projectDir: dir, cacheDir: join(dir, 'c') }),
    )
    return (await collect(opened.rows())).map(({ row, place }) => `${place} ${row.messages[0]?.content}`)
  }
  return { dir, datasets, add, rows }
}

describe('named datasets', () => {
  it('have versions that never change, also when the file they came from does (DATA-8)', async () => {
    const { dir, datasets, add, rows } = project()
    const first = await add('router', line('one'))
    const second = await add('router', line('one') + line('two'))
    expect([first.dataset.version, second.dataset.version]).toEqual([1, 2])
    rmSync(join(dir, 'train.jsonl'))
    expect(await rows({ dataset_name: 'router@1' })).toEqual(['router@1/train.jsonl:1 one'])
    expect(await rows({ dataset_name: 'router' })).toEqual(['router@2/train.jsonl:1 one', 'router@2/train.jsonl:2 two'])
    expect(await rows({ dataset_id: first.dataset.id })).toEqual(['router@1/train.jsonl:1 one'])
    expect((await datasets.list()).map(({ name, version, rows: n }) => [name, version, n])).toEqual([
      ['router', 2, 2],
      ['router', 1, 1],
    ])
  })

  it('hold the same content once (DATA-8)', async () => {
    const { add } = project()
    const { dataset } = await add('router', line('one'))
    expect(await add('router', line('one'))).toEqual({ dataset, isNew: false })
    expect((await add('other', line('one'))).dataset).toMatchObject({ version: 1, hash: dataset.hash })
  })

  it('added at once get a version each (DATA-8)', async () => {
    const { dir, datasets, add } = project()
    const added = await Promise.all(Array.from({ length: 5 }, (_, i) => add('router', line(`${i}`), `${i}.jsonl`)))
    expect(added.map(({ dataset }) => dataset.version).sort()).toEqual([1, 2, 3, 4, 5])
    expect(await datasets.list('router')).toHaveLength(5)
    expect(readdirSync(join(dir, '.evsys', 'datasets', 'router'))).toHaveLength(5)
  })

  it('refuse what a run could not read, bad names and unknown references (DATA-8)', async () => {
    const { add, rows } = project()
    await expect(add('router', '{"a":1}\n{"a"\n')).rejects.toMatchObject({ code: 'DATA_INVALID', where: { line: 2 } })
    await expect(add('router', '')).rejects.toThrow('holds no rows')
    for (const name of ['../x', 'a/b', 'A', '', 'con', 'a@1', '-a']) {
      await expect(add(name, line('x'))).rejects.toMatchObject({ code: 'CLI_USAGE' })
    }
    await add('router', line('x'))
    await expect(rows({ dataset_name: 'ruoter' })).rejects.toMatchObject({
      code: 'DATA_READ',
      fix: expect.stringContaining('router@1'),
    })
    await expect(rows({ dataset_name: 'router@9' })).rejects.toThrow('no dataset is stored under "router@9"')
    await expect(rows({ dataset_name: '../../etc' })).rejects.toMatchObject({ code: 'DATA_READ' })
  })

  it('whose bytes changed under their id are refused, and rows of the cache with them (USE-67)', async () => {
    const { dir, datasets, add, rows } = project()
    const { dataset } = await add('router', line('one'))
    expect(await rows({ dataset_id: dataset.id })).toEqual(['router@1/train.jsonl:1 one'])
    const [blob] = datasets.files(dataset, 'train')
    writeFileSync(blob?.path ?? '', line('two')) // of the same size
    await expect(rows({ dataset_id: dataset.id })).rejects.toMatchObject({
      code: 'BLOB_CORRUPT',
      message: expect.stringContaining('the content of router@1/train.jsonl has changed since it was stored'),
    })
    await expect(requireStoredData(DataConfig.parse({ dataset_name: 'router' }), dir)).rejects.toMatchObject({
      code: 'BLOB_CORRUPT',
    })
    rmSync(blob?.path ?? '')
    await expect(rows({ dataset_name: 'router' })).rejects.toMatchObject({ code: 'BLOB_MISSING' })
    await add('router', line('one')) // the same content has the same hash
    expect(await rows({ dataset_id: dataset.id })).toEqual(['router@1/train.jsonl:1 one'])
    await expect(requireStoredData(DataConfig.parse({ path: 'x.jsonl' }), dir)).resolves.toBeUndefined()
  })

  it('whose description was edited are refused (USE-67)', async () => {
    const { dir, datasets, add } = project()
    await add('router', line('one'))
    const other = await add('router', line('two'))
    const file = join(dir, '.evsys', 'datasets', 'router', '1.json')
    const text = readFileSync(file, 'utf8')
    writeFileSync(file, text.replace(/"sha256": "\w+"/, `"sha256": "${other.dataset.files[0]?.sha256}"`))
    await expect(datasets.find({ name: 'router@1' })).rejects.toMatchObject({ code: 'BLOB_CORRUPT' })
  })
})
