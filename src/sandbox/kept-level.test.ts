import { spawnSync } from 'node:child_process'
import { existsSync, readFileSync, realpathSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { needs } from '../../tests/needs.ts'
import { temporaryFolders } from '../../tests/temporary-folder.ts'
import { findProcessLevel } from './process-level.ts'
import { openProcessSandbox } from './process-sandbox.ts'

const folder = temporaryFolders()
const found = await findProcessLevel()
const namespaces = needs('workers in a sandbox', () => (found.level === 'process' ? (found.reason ?? 'none') : true))
const level = found.level === 'process' ? 'bubblewrap' : found.level
const limits = { memoryBytes: 256 << 20, processes: 16, diskBytes: 1 << 20 }
const open = () => openProcessSandbox({ level, mounts: [], hidden: [], network: false, limits })
const fileIn = (dir: string) => join(dir, 'sandbox', 'process-level-auto.json')

describe('the level that is kept between starts', () => {
  namespaces.it('is taken without trying while machine, user and programs are the same (BOX-405)', async () => {
    const keptIn = folder()
    expect(await findProcessLevel('auto', { keptIn })).toEqual({ level })
    expect(await findProcessLevel('auto', { keptIn })).toEqual({ level, isKept: true })
    expect(await findProcessLevel(level, { keptIn })).toEqual({ level }) // another question
    const kept = JSON.parse(readFileSync(fileIn(keptIn), 'utf8'))
    for (const text of [
      JSON.stringify({ ...kept, key: kept.key.replaceAll(/[0-9a-f]/g, 'a') }),
      JSON.stringify({ ...kept, level: 'process' }),
      JSON.stringify({ ...kept, level: 'container' }),
      '{',
      'null',
    ]) {
      writeFileSync(fileIn(keptIn), text)
      expect(await findProcessLevel('auto', { keptIn })).toEqual({ level })
      expect(JSON.parse(readFileSync(fileIn(keptIn), 'utf8'))).toEqual(kept)
    }
  })

  namespaces.it('is gone once a process could not be shut in by it (BOX-405)', async () => {
    const keptIn = folder()
    await findProcessLevel('auto', { keptIn })
    await findProcessLevel('auto', { keptIn })
    await open().close({ hasBegun: true })
    expect(existsSync(fileIn(keptIn))).toBe(true)
    await open().close({ hasBegun: false })
    expect(existsSync(fileIn(keptIn))).toBe(false)
  })

  it('never says that nothing shuts in (BOX-405)', async () => {
    const keptIn = folder()
    expect(await findProcessLevel('process', { keptIn })).toEqual({ level: 'process' })
    expect(existsSync(join(keptIn, 'sandbox'))).toBe(false)
  })

  namespaces.it(
    'is not believed by a process: one that is not shut in ends before it runs anything (BOX-405)',
    async () => {
      const sandbox = open()
      const ran = join(realpathSync(folder()), 'ran')
      const { argv, env, started } = sandbox.launch(['/bin/sh', '-c', 'echo yes > "$0"', ran], {}, '/')
      started(undefined, undefined)
      // What is started inside, without what shuts it in.
      const inner = argv.slice(argv.lastIndexOf('prlimit'))
      const { status, stderr } = spawnSync(inner[0] ?? '', inner.slice(1), { env, encoding: 'utf8' })
      await sandbox.close({ hasBegun: true })
      expect({ status, stderr, hasRun: existsSync(ran) }).toEqual({
        status: 98,
        stderr: 'it is not shut in\n',
        hasRun: false,
      })
    },
  )
})
