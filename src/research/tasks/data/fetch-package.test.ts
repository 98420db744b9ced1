import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { packTar } from '../../../../tests/pack-tar.ts'
import { scaled } from '../../../../tests/scale.ts'
import { EvsysError } from '../../../kernel/index.ts'
import { readTar } from './fetch-package.ts'

const text = (bytes: Uint8Array) => new TextDecoder().decode(bytes)

describe('readTar', () => {
  it('gives the files of an archive, long names too (RES-307)', () => {
    const long = `package/${'deep/'.repeat(40)}file.txt`
    const archive = packTar({ 'package/a.txt': 'first', 'package/b/c.txt': 'x'.repeat(1500), [long]: 'far' })
    const files = [...readTar(archive)].map(({ path, bytes }) => [path, text(bytes)])
    expect(files).toEqual([
      ['package/a.txt', 'first'],
      ['package/b/c.txt', 'x'.repeat(1500)],
      [long, 'far'],
    ])
  })

  it.each(['../up.txt', 'a/../../up.txt', '/etc/passwd', 'C:\\up.txt', 'a\\..\\..\\up.txt'])(
    'refuses a file at %s (RES-307)',
    (path) => {
      expect(() => [...readTar(packTar({ [path]: 'x' }))]).toThrow(EvsysError)
    },
  )

  it('passes links and devices over (RES-307)', () => {
    const archive = packTar({ 'package/link': '' })
    archive[156] = '2'.charCodeAt(0)
    archive.set(Buffer.from(checkSum(archive)), 148)
    expect([...readTar(archive)]).toEqual([])
  })

  it('gives files or an error of ours, whatever the bytes are (RES-307)', () => {
    const whole = packTar({ 'package/a.txt': 'first', 'package/b.txt': 'second' })
    fc.assert(
      fc.property(fc.nat(whole.length - 1), fc.integer({ min: 0, max: 255 }), fc.nat(whole.length), (at, byte, cut) => {
        const bytes = whole.slice(0, whole.length - (cut % 700))
        if (at < bytes.length) bytes[at] = byte
        try {
          for (const { path } of readTar(bytes)) expect(path).not.toMatch(/^\/|\.\./)
        } catch (error) {
          expect(EvsysError.is(error), String(error)).toBe(true)
        }
      }),
      { numRuns: scaled(200) },
    )
  })
})

function checkSum(header: Uint8Array): string {
  const sum = header.subarray(0, 512).reduce((total, byte, i) => total + (i >= 148 && i < 156 ? 32 : byte), 0)
  return `${sum.toString(8).padStart(6, '0')}\0 `
}
