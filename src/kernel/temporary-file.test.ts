import { mkdtempSync, readdirSync, rmSync, utimesSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { startChild } from '../../tests/start-child.ts'
import { isTemporary, sweepTemporary, temporaryPath } from './temporary-file.ts'

let dir = ''
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'evsys-sweep-'))
})
afterEach(() => rmSync(dir, { recursive: true, force: true }))

const own = () => basename(temporaryPath(dir))
const ofPid = (pid: number) => own().replace(/-\d+-(?=[0-9a-f]{16}\.tmp$)/, `-${pid}-`)

describe('sweepTemporary', () => {
  it('removes what a dead process left, and nothing that lives (KER-11)', async () => {
    const child = startChild('rewrite-file', [join(dir, 'x'), 'x', '0', '1'])
    const { pid } = child.process
    if (pid === undefined) throw new Error('no child')
    await child.exit()
    const [dead, alive, init] = [ofPid(pid), own(), ofPid(1)]
    for (const name of [dead, alive, init]) writeFileSync(join(dir, name), '')
    expect(await sweepTemporary(dir)).toEqual([dead])
    expect(readdirSync(dir).sort()).toEqual([alive, init].sort())
  })

  it('leaves files of another machine alone for a day', async () => {
    const foreign = ofPid(4_000_000).replace(/^\.evsys-[0-9a-f]{8}/, '.evsys-00000000')
    writeFileSync(join(dir, foreign), '')
    const writtenMs = 1_700_000_000_000
    utimesSync(join(dir, foreign), writtenMs / 1000, writtenMs / 1000)
    const hour = 3_600_000
    expect(await sweepTemporary(dir, { nowMs: writtenMs + 23 * hour })).toEqual([])
    expect(await sweepTemporary(dir, { nowMs: writtenMs - 48 * hour })).toEqual([])
    expect(await sweepTemporary(dir, { nowMs: writtenMs + 25 * hour })).toEqual([foreign])
  })

  it('touches no file that only looks similar', async () => {
    const names = ['.evsys-x.tmp', 'notes.tmp', ofPid(4_000_000).slice(1), `${ofPid(4_000_000)}.bak`, ofPid(0)]
    for (const name of names) writeFileSync(join(dir, name), '')
    expect(await sweepTemporary(dir)).toEqual([])
    expect(readdirSync(dir).sort()).toEqual(names.sort())
  })

  it('finds nothing in a folder that does not exist, and complains about a file', async () => {
    expect(await sweepTemporary(join(dir, 'gone'))).toEqual([])
    writeFileSync(join(dir, 'file'), '')
    await expect(sweepTemporary(join(dir, 'file'))).rejects.toMatchObject({ code: 'FILE_FAILED' })
  })
})

describe('temporaryPath', () => {
  it('is new every time and recognised by its name', () => {
    const names = Array.from({ length: 100 }, own)
    expect(new Set(names).size).toBe(100)
    expect(names.every(isTemporary)).toBe(true)
    expect(isTemporary('model.tmp')).toBe(false)
  })
})
