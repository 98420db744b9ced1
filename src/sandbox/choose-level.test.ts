import { describe, expect, it } from 'vitest'
import { seccompFilter } from './bubblewrap.ts'
import { chooseLevel } from './choose-level.ts'
import { CappedText } from './run-command.ts'

describe('the level of a sandbox', () => {
  const all = [{ level: 'bubblewrap' }, { level: 'chroot' }, { level: 'container' }, { level: 'process' }] as const
  const none = all.map(({ level }) => ({ level, reason: 'is away' }))
  const without = (...names: string[]) =>
    all.map((each) => (names.includes(each.level) ? { ...each, reason: 'is away' } : each))

  it('is the first of the ladder that works (BOX-1)', () => {
    expect(chooseLevel({}, all)).toBe('bubblewrap')
    expect(chooseLevel({}, without('bubblewrap'))).toBe('chroot')
    expect(chooseLevel({}, without('bubblewrap', 'chroot'))).toBe('container')
    expect(chooseLevel({ level: 'chroot' }, all)).toBe('chroot')
  })

  it('is never weaker than asked for (BOX-1)', () => {
    expect(chooseLevel({ minimum: 'container' }, all)).toBe('container')
    const refused = () => chooseLevel({ minimum: 'bubblewrap' }, without('bubblewrap', 'container'))
    expect(refused).toThrow(
      'this machine has no sandbox of level bubblewrap or stronger (bubblewrap: is away; container: is away)',
    )
    expect(() => chooseLevel({ level: 'bubblewrap' }, none)).toThrow(/of level bubblewrap \(/)
  })

  it('is none that isolates nothing, unless it is named (BOX-1)', () => {
    expect(() => chooseLevel({}, without('bubblewrap', 'chroot', 'container'))).toThrow(/no sandbox/)
    expect(chooseLevel({ level: 'process' }, all)).toBe('process')
    expect(chooseLevel({ minimum: 'process' }, without('bubblewrap', 'chroot', 'container'))).toBe('process')
  })
})

describe('output that is capped (BOX-4)', () => {
  it('keeps whole characters and tells what is missing', () => {
    const text = new CappedText(4)
    text.add(Buffer.from('aé€'))
    text.add(Buffer.from('more'))
    expect([text.toString(), text.droppedBytes]).toEqual(['aé\n[output truncated: 6 bytes left out]\n', 6])
  })
})

describe('the filter of system calls (BOX-6)', () => {
  it('is a program whose jumps stay inside, for the processors it knows', () => {
    for (const processor of ['x64', 'arm64']) {
      const bytes = Buffer.from(seccompFilter({ processor, unnamedMemory: false }) ?? [])
      const length = bytes.length / 8
      expect(length).toBeGreaterThan(80)
      for (let i = 0; i < length; i += 1)
        if ((bytes.readUInt16LE(i * 8) & 7) === 5)
          expect(i + 1 + Math.max(bytes[i * 8 + 2] ?? 0, bytes[i * 8 + 3] ?? 0)).toBeLessThan(length)
      expect(bytes.readUInt16LE((length - 1) * 8)).toBe(6)
    }
    expect(seccompFilter({ processor: 'mips', unnamedMemory: true })).toBeUndefined()
  })
})
