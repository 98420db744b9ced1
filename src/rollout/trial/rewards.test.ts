import { linkSync, mkdirSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { temporaryFolders } from '../../../tests/temporary-folder.ts'
import { parseRewards, readRewardFiles } from './rewards.ts'
import { exceptionName } from './trial-error.ts'

const folder = temporaryFolders()

/** The rewards, or the name of the error. */
function outcome(files: { json?: string | undefined; text?: string | undefined }): unknown {
  try {
    return parseRewards({ json: files.json, text: files.text }).rewards
  } catch (error) {
    return exceptionName(error)
  }
}

describe('reward.txt', () => {
  it.each([
    ['0.25\n', { reward: 0.25 }],
    ['1', { reward: 1 }],
    [' -2.5e-1 ', { reward: -0.25 }],
    ['.5', { reward: 0.5 }],
    ['', 'RewardFileEmptyError'],
    [' \n', 'RewardFileEmptyError'],
    ['abc', 'VerifierOutputParseError'],
    ['nan', 'VerifierOutputParseError'],
    ['NaN', 'VerifierOutputParseError'],
    ['inf', 'VerifierOutputParseError'],
    ['Infinity', 'VerifierOutputParseError'],
    ['1e999', 'VerifierOutputParseError'],
    ['true', 'VerifierOutputParseError'],
    ['0x10', 'VerifierOutputParseError'],
    ['1 2', 'VerifierOutputParseError'],
    ['{"reward": 1}', 'VerifierOutputParseError'],
  ])('%j is %j (HAR-30)', (text, expected) => {
    expect(outcome({ text })).toEqual(expected)
  })
})

describe('reward.json', () => {
  it.each([
    ['{"a": 1, "b": 0.5}', { a: 1, b: 0.5 }],
    ['{"reward": -1}', { reward: -1 }],
    ['', 'RewardFileEmptyError'],
    ['{}', 'VerifierOutputParseError'],
    ['{"a": "x"}', 'VerifierOutputParseError'],
    ['{"a": "1"}', 'VerifierOutputParseError'],
    ['{"a": {"b": 1}}', 'VerifierOutputParseError'],
    ['{"a": [1]}', 'VerifierOutputParseError'],
    ['{"a": true}', 'VerifierOutputParseError'],
    ['{"a": null}', 'VerifierOutputParseError'],
    ['{"a": NaN}', 'VerifierOutputParseError'],
    ['{"a": 1e999}', 'VerifierOutputParseError'],
    ['[1]', 'VerifierOutputParseError'],
    ['1', 'VerifierOutputParseError'],
    ['null', 'VerifierOutputParseError'],
    ['{"a": 1', 'VerifierOutputParseError'],
  ])('%j is %j (HAR-31)', (json, expected) => {
    expect(outcome({ json })).toEqual(expected)
  })

  it('is never anything but finite numbers, whatever is in it (HAR-31)', async () => {
    await fc.assert(
      fc.asyncProperty(fc.json(), async (json) => {
        const found = outcome({ json })
        return typeof found === 'string' || Object.values(Object(found)).every(Number.isFinite)
      }),
    )
  })

  it('wins over reward.txt, and a disagreement is told (HAR-29)', () => {
    expect(parseRewards({ json: '{"reward": 1}', text: '0' })).toEqual({
      rewards: { reward: 1 },
      warnings: [expect.stringContaining('disagree')],
    })
    expect(parseRewards({ json: '{"score": 0.5}', text: '0.5\n' }).warnings).toEqual([])
    expect(parseRewards({ json: '{"a": 1, "b": 1}', text: '1' }).warnings).toHaveLength(1)
  })

  it('neither file is a name of its own (HAR-28)', () => {
    expect(outcome({})).toBe('RewardFileNotFoundError')
  })
})

describe('files that are no rewards', () => {
  it('links, folders and files of another size are refused without being read (HAR-32)', async () => {
    const elsewhere = folder()
    writeFileSync(join(elsewhere, 'forged'), '1')
    const refused = async (make: (file: string) => void) => {
      const dir = folder()
      make(join(dir, 'reward.txt'))
      return readRewardFiles(dir).then(
        (files) => files,
        (error) => exceptionName(error),
      )
    }
    expect(await refused((file) => symlinkSync(join(elsewhere, 'forged'), file))).toBe('VerifierOutputParseError')
    expect(await refused((file) => linkSync(join(elsewhere, 'forged'), file))).toBe('VerifierOutputParseError')
    expect(await refused((file) => mkdirSync(file))).toBe('VerifierOutputParseError')
    expect(await refused((file) => writeFileSync(file, `${'0'.repeat(1_000_001)}1`))).toBe('VerifierOutputParseError')
    expect(await refused((file) => writeFileSync(file, '1'))).toEqual({ json: undefined, text: '1' })
  })
})
