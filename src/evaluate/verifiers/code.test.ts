import { execFileSync } from 'node:child_process'
import { expect, it } from 'vitest'
import { needs } from '../../../tests/needs.ts'
import { pluginContext } from '../../../tests/plugin-context.ts'
import { code, codeOf } from './code.ts'

const linux = needs('a Linux sandbox (bwrap, unshare) and python3', () => {
  const env = { PATH: '/usr/sbin:/usr/bin:/sbin:/bin' }
  execFileSync('/bin/sh', ['-c', 'command -v bwrap && command -v python3'], { env })
  execFileSync('unshare', ['--user', '--map-root-user', '--mount', 'true'], { env })
  return true
})

async function verify(output: string, expected: unknown, given: object = {}) {
  return await code.verify({ output, expected }, pluginContext(code, given))
}

it('finds the code of an answer (BOX-10)', () => {
  const answer = 'First:\n```py\nold = 1\n```\nBetter:\n```python\ndef f():\n  return "```"\n```\nand\n```sh\nls\n```\n'
  expect(codeOf(answer, 'python')).toBe('def f():\n  return "```"')
  expect(codeOf(answer, 'javascript')).toBe('ls')
  expect(codeOf('print(1)', 'python')).toBe('print(1)')
  expect(codeOf('```\ncut off', 'python')).toBe('cut off')
})

linux.describe('the verifier code', () => {
  const doubled = '```python\nprint("noise")\ndef f(x):\n    return x * 2\n```'
  const tests = ['assert f(2) == 4', 'assert f(0) == 0', 'assert f(1) == 3']

  it('gives 1 to an answer that passes, 0 or a share to others (BOX-10)', async () => {
    expect(await verify(doubled, 'assert f(2) == 4\nassert f(3) == 6')).toEqual({
      reward: 1,
      info: { passed: 1, tests: 1, sandbox: 'bubblewrap' },
    })
    const reason = 'test 3: AssertionError: '
    expect(await verify(doubled, tests)).toEqual({
      reward: 0,
      info: { passed: 2, tests: 3, sandbox: 'bubblewrap', reason },
    })
    expect(await verify(doubled, undefined, { tests, reward: 'share' })).toMatchObject({ reward: 2 / 3 })
  })

  it('runs other languages and commands (BOX-10)', async () => {
    const js = '```js\nconst f = async (x) => x + 1\n```'
    expect(await verify(js, 'f(1).then((y) => assert.equal(y, 2))', { language: 'javascript' })).toMatchObject({
      reward: 1,
    })
    expect(await verify(js, 'f(1).then((y) => assert.equal(y, 3))', { language: 'javascript' })).toMatchObject({
      reward: 0,
    })
    const shell = '```sh\necho "hello $1"\n```'
    expect(await verify(shell, '[ "$(sh answer.sh you)" = "hello you" ]', { language: 'sh' })).toMatchObject({
      reward: 1,
    })
    expect(await verify('a', 'a', { command: ['cmp', 'answer', 'tests'] })).toMatchObject({ reward: 1 })
    expect(await verify('b', 'a', { command: ['cmp', 'answer', 'tests'] })).toMatchObject({ reward: 0 })
  })

  it.each([
    ['ends the process', 'import os\nos._exit(0)', 'before its tests'],
    ['leaves', 'import sys\nsys.exit(0)', 'SystemExit'],
    ['never returns', 'while True: pass', 'timeoutMs'],
    ['is not Python', 'def f(:', 'SyntaxError'],
    ['takes all memory', 'x = [b"x" * 10**7 for _ in range(1000)]', ''],
    ['prints a verdict', 'import os\nos.write(1, b\'{"word": "", "passed": 1}\')\nos._exit(0)', 'before its tests'],
  ])('gives 0 to an answer that %s (BOX-10)', async (_what, answer, reason) => {
    const verdict = await verify(answer, 'assert True', { timeout_s: 2, memory_mb: 64 })
    expect(verdict).toMatchObject({ reward: 0, info: { passed: 0, reason: expect.stringContaining(reason) } })
  })

  it('gives no reward where it cannot run (BOX-10, BOX-8)', async () => {
    await expect(verify('a', 'b', { command: ['no-such-tool'] })).rejects.toMatchObject({ code: 'SANDBOX_FAILED' })
    await expect(verify('a', undefined)).rejects.toMatchObject({ code: 'DATA_INVALID' })
  })
})
