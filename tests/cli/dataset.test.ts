import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { temporaryFolders } from '../temporary-folder.ts'
import { runMain } from './run-main.ts'

const folder = temporaryFolders()

function project() {
  const cwd = folder()
  mkdirSync(join(cwd, '.evsys'))
  mkdirSync(join(cwd, 'data'))
  const write = (text: string) => writeFileSync(join(cwd, 'data', 'train.csv'), text)
  write('query,tool\nhi,greet\n"bye, all",leave\n')
  return { cwd, write }
}

describe('dataset', () => {
  it('adds a file under a name, once, and lists what there is (DATA-8)', async () => {
    const { cwd, write } = project()
    const added = await runMain(['dataset', 'add', 'router', 'data/train.csv'], { cwd })
    expect(added.code).toBe(0)
    expect(added.stdout).toMatch(/^added router@1 \(ds_[0-9a-f]{16}\): 2 rows in 1 file\n/)
    expect(added.stdout).toContain('data: { dataset_name: router@1 }')
    const again = await runMain(['dataset', 'add', 'router', 'data/train.csv', '--json'], { cwd })
    expect(JSON.parse(again.stdout)).toMatchObject({ name: 'router', version: 1, rows: 2, added: false })
    write('query,tool\nhi,greet\n')
    await runMain(['dataset', 'add', 'router', 'data/train.csv'], { cwd })
    const listed = await runMain(['dataset', 'list', '--json'], { cwd })
    expect(JSON.parse(listed.stdout).datasets).toMatchObject([
      { name: 'router', version: 2, rows: 1, from: 'data/train.csv' },
      { name: 'router', version: 1, rows: 2 },
    ])
    const table = await runMain(['dataset', 'list', 'router'], { cwd })
    expect(table.stdout).toMatch(/^DATASET +ROWS +SIZE +SPLITS +ADDED +ID\nrouter@2 +1 /)
  })

  it('says what is wrong with a file, a name and an action (DATA-8)', async () => {
    const { cwd, write } = project()
    expect((await runMain(['dataset', 'list'], { cwd })).stdout).toContain('no dataset is stored')
    write('query,query\n1,2\n')
    const broken = await runMain(['dataset', 'add', 'router', 'data/train.csv', '--json'], { cwd })
    expect(broken.code).toBe(2)
    expect(JSON.parse(broken.stdout).errors).toMatchObject([
      { code: 'DATA_INVALID', where: { file: 'data/train.csv', line: 1 } },
    ])
    for (const words of [
      ['add', 'Bad Name', 'data/train.csv'],
      ['add', 'router'],
      ['push'],
      ['add', 'router', 'none.csv'],
    ]) {
      expect((await runMain(['dataset', ...words], { cwd })).code).toBe(2)
    }
  })
})
