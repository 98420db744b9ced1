import { describe, expect, it } from 'vitest'
import { sha256, unpackZstd, ZstdFault } from '../index.ts'
import { xxh64 } from './xxh64.ts'

/** Packed by the reference implementation, version 1.5.4, with a checksum and without one: prose, numbers, a long repetition. */
const frames = [
  {
    sha256: 'd872968d2f80d6722f971005c312be7b728394d35570a8914138b743bc9b5378',
    isChecked: true,
    packed: [
      'KLUv/WS8AX0IALZRMRxwbTogppq0o4lspHbN0g0PtxGO8UER8VeAHokaKQApACkALJNXj/lK4eUxg2d9c6p3rJzJZFxWmJYPtz9ucOHd8TGRJJ',
      'F2qskMBgS7LI1AV7+MRNnlK+RNdOQc651DM9+WD+Qe6NOx581X6z31sDIsldGBAmqtKELNusuKLr3afCLKt3hntT+QO+Ao2URHkZ32dZQky55a',
      'qyNdJTM0uKmlWuhsO7KbZC2tV6vU7vqmnK2GD4jCwsc0AXMpxBJm8rVM6rYeGwBNEVSRuyYz7DOthAgIOA8MH4OZBdBOGUhFQuY6wVN+yi/c2A',
      'VscADBgM32uh3pqSjDjJ8prjgeMlZgPk+2sIIiNMmuZQ9wVABx',
    ].join(''),
  },
  {
    sha256: 'd872968d2f80d6722f971005c312be7b728394d35570a8914138b743bc9b5378',
    isChecked: false,
    packed: [
      'KLUv/WC8Aa0IAKbTNR9gS9MGAPz/JpdNtuMltkkp+CSYDYq+QWcvjBPAEVwJLQAtACwAvmRReLxqykcKPugRU3ycWY+Y6hMbP/D4ko0jMeG8Yu',
      'TS2RP/EoxZpKmiMjBAxwjdw+r3gAjo6hdhjjMbm3xdvHheWGJ9Yufjm6go7gH9MaU8fbReQwnroRAFlnjUmY7Wht6S1k02NOnRorJANq97kvKK',
      '4l5m2QFeZq3lJL9exhzW0FobzlG2bVuPxITuSUS72FpmLRtBlejDpHo1OmnXp3GVGHyAULDgH5rgMOmizuFxFgCORIbP3BIi9gnNwWCMyROYw5',
      'Q7LyDTMuHJkb5/lQ02DJjApndBp0ADZ4RjmPEzxR3nzjCW0BVtOAM=',
    ].join(''),
  },
  {
    sha256: 'a2b8b732e3e58af9296ef76a4825185cab4fea6d40de8a5ede95f166d66ef1e7',
    isChecked: true,
    packed: [
      'KLUv/WSQAY0NAAQZAKRqVz+3x+g/pcLYPs+9QcCKbZnAU5fWv5VGfT8yAVM/dOfQv1z/f8AOtCvAGlghQER5Jj8QaBO/nJY4wLNAQMDE1z8/Fk',
      'mvFQURvOeh2L/93i3AOIcHv8oEdEDKn7fp4ym/pO/8v4Qmm79NKg1AZPyfQPIqS4A45X2/6r6kv2+cYz9Lu3ZArG9uQPmkc78x71S/oQMRPZxf',
      'I0Ca22ZAcSweP0GBk8D/VYa+JJSrP7huPUC0tso/ANAywPfzv/1Q3z7nLP4/5YH0PyMQnL8vlJrANuyNANSGaz8Lq9M/WyGjvVsDW8Aeq4/AOk',
      '8wv1F4cz8j9QE/svABwIwyfMAlLvi/pWJZQBiUAz+8YmO/ndM+wFdAIcBnd8g/De25K000vsZn7L/+yR3A0P0QPnGciUC5pasXi0e/nsLyv4Fa',
      'PL896i5AwV+dQPbEEYAFzH+/AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8gISIjJCUmJygpKissLS4vMDEyMzQ1Njc4OTo7PD0+Px',
      'Ag0HMxRW+g2NrWkkaMAg/xBA1nuIlNFAEH5gcYCELcyUE8',
    ].join(''),
  },
  {
    sha256: '622d65a2f55478f40af8c1b3877bb839c3c223e463b3839308c83a8cbfc27381',
    isChecked: true,
    packed: ['KLUv/WSjDnUAADhhYmMgZW5kAQCZ33dEOT+Bcg=='].join(''),
  },
].map(({ packed, ...frame }) => ({ ...frame, packed: Buffer.from(packed, 'base64') }))

const mostBytes = 2 ** 20

/** Its content, or why there is none. */
function outcome(packed: Uint8Array): string {
  try {
    return sha256(unpackZstd(packed, mostBytes))
  } catch (error) {
    if (error instanceof ZstdFault) return error.message
    throw error
  }
}

describe('zstd', () => {
  it('is unpacked as the reference implementation packed it, also several frames (TRN-4)', () => {
    for (const { packed, sha256: wanted } of frames) expect(outcome(packed)).toBe(wanted)
    const [first, second] = frames.map(({ packed }) => packed)
    const skipped = Buffer.from([0x50, 0x2a, 0x4d, 0x18, 3, 0, 0, 0, 1, 2, 3])
    const both = Buffer.concat([first ?? skipped, skipped, second ?? skipped])
    expect(unpackZstd(both, mostBytes).length).toBe(1400)
    expect(outcome(Buffer.alloc(0))).toBe('it is no zstd')
  })

  it('that was changed anywhere is refused where it has a checksum, and ends without one (TRN-23)', () => {
    for (const { packed, sha256: wanted, isChecked } of frames) {
      const wrong: number[] = []
      for (let bit = 0; bit < packed.length * 8; bit += 3) {
        const changed = Buffer.from(packed)
        changed[bit >> 3] = (changed[bit >> 3] ?? 0) ^ (1 << (bit & 7))
        const result = outcome(changed)
        // A bit of the header that names a larger window changes nothing.
        if (isChecked && result !== wanted && !/^(the zstd frame|it )/.test(result)) wrong.push(bit)
      }
      expect(wrong).toEqual([])
      for (let end = 0; end < packed.length; end++)
        if (outcome(packed.subarray(0, end)) === wanted) throw new Error(`a cut at ${end} was taken`)
    }
  })

  it('is bounded before it takes memory (TRN-23)', () => {
    for (const { packed } of frames) expect(() => unpackZstd(packed, 100)).toThrow('unpacks to more than 100 bytes')
    const claimsMuch = Buffer.from([0x28, 0xb5, 0x2f, 0xfd, 0xe0, 0, 0, 0, 0, 0, 1, 0, 0, 1, 0, 0])
    expect(() => unpackZstd(claimsMuch, mostBytes)).toThrow('unpacks to more than')
    const wideWindow = Buffer.from([0x28, 0xb5, 0x2f, 0xfd, 0x00, 0xff, 1, 0, 0])
    expect(() => unpackZstd(wideWindow, mostBytes)).toThrow('bytes of memory')
  })

  it('has a checksum of published values (TRN-4)', () => {
    expect(xxh64(new Uint8Array(0))).toBe(0x51d8e999)
    expect(xxh64(Buffer.from('abc'))).toBe(0xad770999)
    expect(xxh64(Buffer.from('Nobody inspects the spammish repetition'))).toBe(0x8a378bf1)
  })
})
