import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { describe, expect, it } from 'vitest'
import { bytesOf, smallHeader, smallValues, writeTable } from '../../../tests/table-files.ts'
import { temporaryFolders } from '../../../tests/temporary-folder.ts'
import { readSearchTables } from './read-search-table.ts'
import { spaceOf, tableTruth } from './search-table.ts'

const folder = temporaryFolders()

describe('readSearchTables', () => {
  it('reads headers and their bodies, and leaves other files alone (RES-107)', async () => {
    const dir = writeTable(folder())
    writeTable(join(dir, 'deeper'))
    const [table, ...others] = await readSearchTables(dir)
    expect(others).toEqual([])
    expect(table).toMatchObject({ name: 'hill', direction: 'min', seeds: 2 })
    expect(table?.values).toEqual(smallValues())
    expect(spaceOf(smallHeader).lr).toMatchObject({ kind: 'choice', ordered: true })
    expect(spaceOf(smallHeader).schedule).toMatchObject({ kind: 'choice', ordered: false })
  })

  const { axes, ...rest } = smallHeader
  const bomb = gzipSync(new Uint8Array(50_000_000))
  it.each([
    ['a header that is no JSON', { header: '{' }, /not JSON/],
    ['a header that is no object', { header: '[]' }, /expected object|object/],
    ['no axes', { header: rest }, /axes/],
    ['a direction of its own', { header: { ...smallHeader, direction: 'up' } }, /direction/],
    ['no seeds', { header: { ...smallHeader, seeds: 0 } }, /seeds/],
    ['two axes of one name', { header: { ...smallHeader, axes: [...axes, axes[0]] } }, /two axes have one name/],
    ['a value twice', { header: { ...smallHeader, axes: [{ name: 'x', values: [1, 1] }] } }, /twice/],
    [
      'more than memory holds',
      {
        header: {
          ...smallHeader,
          axes: Array.from({ length: 9 }, (_, i) => ({
            name: `x${i}`,
            values: Array.from({ length: 99 }, (_, j) => j),
          })),
        },
      },
      /more than/,
    ],
    ['a body that is too short', { body: gzipSync(bytesOf(smallValues().slice(1))) }, /11996 bytes/],
    ['a body that unpacks to far more', { body: bomb }, /hill\.f32\.gz/],
    ['a body that is no gzip', { body: new Uint8Array(100) }, /hill\.f32\.gz/],
  ])('refuses %s (RES-107)', async (_what, files, says) => {
    const dir = writeTable(folder(), files)
    await expect(readSearchTables(dir)).rejects.toMatchObject({
      code: 'DATA_INVALID',
      message: expect.stringMatching(says),
    })
  })

  it('refuses a folder without tables, and two of one name (RES-107)', async () => {
    await expect(readSearchTables(folder())).rejects.toMatchObject({ code: 'DATA_READ' })
    await expect(readSearchTables(join(folder(), 'nowhere'))).rejects.toThrow('nowhere')
    const dir = writeTable(writeTable(folder()), {}, 'other')
    await expect(readSearchTables(dir)).rejects.toThrow('two tables are called "hill"')
  })
})

describe('tableTruth', () => {
  const table = (values: readonly number[], seeds = 1) => ({
    name: 't',
    direction: 'max' as const,
    seeds,
    axes: [{ name: 'x', values: Array.from({ length: values.length / seeds }, (_, i) => i) }],
    values: Float32Array.from(values),
  })

  it('takes the best 0.1 % as target and starts near the median (RES-108)', () => {
    const { target, starts } = tableTruth(table(Array.from({ length: 2000 }, (_, i) => i)))
    expect(target).toBe(1998)
    expect(starts).toHaveLength(20)
    expect(Math.min(...starts)).toBe(990)
    expect(Math.max(...starts)).toBe(1009)
  })

  it('turns what is minimized, leaves missing seeds out and configurations without any (RES-108)', () => {
    const nan = Number.NaN
    const { merits, target, starts } = tableTruth({ ...table([1, nan, nan, nan, 3, 5, 9, 9], 2), direction: 'min' })
    expect([...merits]).toEqual([-1, nan, -4, -9])
    expect(target).toBe(-1)
    expect(starts).not.toContain(1)
  })

  it('calls a table flat when seeds hide the way from the good to the best (RES-108)', () => {
    // 1,000 configurations: of the best ten the median is 995, the target 999; two seeds at +-d have a standard deviation of d sqrt 2.
    const spread = (d: number) =>
      table(
        Array.from({ length: 2000 }, (_, i) => (i >> 1) + (i % 2 === 0 ? d : -d)),
        2,
      )
    expect(tableTruth(spread(1))).toMatchObject({ flat: false, gap: expect.closeTo(4 / Math.SQRT2, 4) })
    expect(tableTruth(spread(3.1)).flat).toBe(false)
    expect(tableTruth(spread(3.2)).flat).toBe(true)
    expect(tableTruth(table(Array.from({ length: 1000 }, () => 1))).flat).toBe(true)
  })
})
