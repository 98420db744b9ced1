import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import fc from 'fast-check'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { EvsysError } from './evsys-error.ts'
import { findSecrets, readSecretSource, resolveSecrets, type SecretSource } from './secrets.ts'

const source = (values: Record<string, string>): SecretSource => ({
  get: (name) => (Object.hasOwn(values, name) ? values[name] : undefined),
  hint: 'in the environment',
})
const problemsIn = (work: () => unknown) => {
  try {
    work()
  } catch (error) {
    if (EvsysError.is(error)) return error.problems
    throw error
  }
  throw new Error('nothing was thrown')
}

describe('findSecrets', () => {
  it('finds every reference with its place (KER-13)', () => {
    const value = { url: 'https://${secret:USER}:${secret:PASS}@host', envs: ['${secret:KEY}', 'plain', 1, null] }
    expect(findSecrets(value)).toEqual([
      { name: 'USER', text: '${secret:USER}', path: ['url'] },
      { name: 'PASS', text: '${secret:PASS}', path: ['url'] },
      { name: 'KEY', text: '${secret:KEY}', path: ['envs', 0] },
    ])
  })

  it('visits shared values once, and survives values that contain themselves', () => {
    const loop: unknown[] = ['${secret:KEY}']
    loop.push(loop)
    expect(findSecrets(loop)).toHaveLength(1)
    let laughs: unknown = '${secret:KEY}'
    for (let i = 0; i < 60; i++) laughs = [laughs, laughs]
    expect(findSecrets({ laughs }).length).toBeLessThanOrEqual(2)
  })

  it('refuses what is nested beyond reason', () => {
    let deep: unknown = 'x'
    for (let i = 0; i < 100_000; i++) deep = [deep]
    expect(() => findSecrets(deep)).toThrow(expect.objectContaining({ code: 'DATA_INVALID' }))
  })
})

describe('resolveSecrets', () => {
  it('replaces references inside text and leaves the original alone (KER-13)', () => {
    const value = { header: 'Bearer ${secret:KEY}', list: ['${secret:KEY}${secret:OTHER}'], n: 1, date: new Date(0) }
    const before = structuredClone(value)
    expect(resolveSecrets(value, source({ KEY: 'k-123', OTHER: 'o-456' }))).toEqual({
      header: 'Bearer k-123',
      list: ['k-123o-456'],
      n: 1,
      date: new Date(0),
    })
    expect(value).toEqual(before)
  })

  it('resolves once: a secret that looks like a reference or a pattern stays as it is (KER-13)', () => {
    const tricky = { A: '${secret:B}', B: "$& $1 $' $$", __proto__x: 'fine' }
    expect(resolveSecrets('${secret:A} ${secret:B}', source(tricky))).toBe("${secret:B} $& $1 $' $$")
  })

  it('keeps keys like __proto__ as keys', () => {
    const value: unknown = JSON.parse('{"__proto__": {"polluted": "${secret:KEY}"}}')
    const resolved = resolveSecrets(value, source({ KEY: 'value' }))
    expect(JSON.stringify(resolved)).toBe('{"__proto__":{"polluted":"value"}}')
    expect(Reflect.get({}, 'polluted')).toBeUndefined()
  })

  it('reports all that are missing at once, each with how to set it (KER-13)', () => {
    const value = {
      a: '${secret:GONE}',
      b: ['${secret:EMPTY}'],
      c: '${secret:PIN}',
      d: '${secret:GONE}',
      e: '${secret:OK}',
    }
    expect(problemsIn(() => resolveSecrets(value, source({ EMPTY: ' ', PIN: '123', OK: 'long enough' })))).toEqual([
      {
        code: 'SECRET_MISSING',
        message: 'a: the secret GONE is not set',
        fix: 'set GONE in the environment, as GONE=value.',
      },
      {
        code: 'SECRET_MISSING',
        message: 'b.0: the secret EMPTY is empty',
        fix: 'set EMPTY in the environment, as EMPTY=value.',
      },
      {
        code: 'SECRET_MISSING',
        message: 'c: the secret PIN has fewer than 4 characters, too few to be kept out of logs',
        fix: 'use a longer one, or write the value itself if it is no secret.',
      },
    ])
  })

  it('never puts the value of a secret into an error (KER-13)', () => {
    const problems = problemsIn(() => resolveSecrets(['${secret:PIN}', '${secret:GONE}'], source({ PIN: 'pi3' })))
    expect(JSON.stringify(problems)).not.toContain('pi3')
  })

  it.each([
    '${secret:}',
    '${secret:my key}',
    '${secret:1KEY}',
    '${ secret:KEY }',
    '${secret: KEY}',
    '${secret.KEY}',
    '${SECRET:KEY}',
    '${secret:KEY',
    '${secret:a/../b}',
    '${secret:KEY\n}',
  ])('refuses the malformed %j instead of sending it as it is (KER-13)', (text) => {
    const [problem] = problemsIn(() => resolveSecrets(text, source({ KEY: 'value', 'my key': 'value' })))
    expect(problem?.message).toMatch(/is not a reference to a secret$/)
    expect(problem?.fix).toContain('${secret:NAME}')
  })

  it('changes nothing in values without references', () => {
    fc.assert(
      fc.property(fc.jsonValue(), (value) => {
        fc.pre(!/\$\{\s*secret/i.test(JSON.stringify(value)))
        expect(resolveSecrets(value, source({}))).toStrictEqual(value)
      }),
    )
  })

  it('ends with no reference left, whatever the values are (KER-13)', () => {
    const name = fc.stringMatching(/^[A-Z_][A-Z0-9_]{0,6}$/)
    fc.assert(
      fc.property(fc.dictionary(name, fc.stringMatching(/^[!-z]{4,12}$/)), (values) => {
        const text = Object.keys(values).map((each) => `<\${secret:${each}}>`)
        expect(resolveSecrets(text, source(values))).toEqual(Object.values(values).map((each) => `<${each}>`))
      }),
    )
  })
})

describe('readSecretSource', () => {
  let dir = ''
  beforeEach(() => {
    dir = mkdtempSync(join(tmpdir(), 'evsys-secrets-'))
  })
  afterEach(() => rmSync(dir, { recursive: true, force: true }))

  it('reads .env without touching process.env; the environment wins (KER-13)', async () => {
    const file =
      '\uFEFFFROM_FILE="with space # not a comment"\nexport BOTH=file\n# comment\nMULTI="a\nb"\nbroken line\n'
    writeFileSync(join(dir, '.env'), file)
    const before = { ...process.env }
    const secrets = await readSecretSource({ projectDir: dir, env: { BOTH: 'environment' } })
    expect(['FROM_FILE', 'BOTH', 'MULTI', 'GONE'].map((name) => secrets.get(name))).toEqual([
      'with space # not a comment',
      'environment',
      'a\nb',
      undefined,
    ])
    expect(secrets.hint).toBe(`in the environment or in ${join(dir, '.env')}`)
    expect({ ...process.env }).toEqual(before)
  })

  it('needs no .env, and takes a folder of that name for none', async () => {
    expect((await readSecretSource({ projectDir: dir, env: {} })).get('X')).toBeUndefined()
    mkdirSync(join(dir, '.env'))
    expect((await readSecretSource({ projectDir: dir, env: { X: 'value' } })).get('X')).toBe('value')
  })

  it('does not find what every object has', async () => {
    const secrets = await readSecretSource({ projectDir: dir, env: {} })
    expect(['constructor', 'toString', '__proto__', 'hasOwnProperty'].map((name) => secrets.get(name))).toEqual(
      Array(4).fill(undefined),
    )
  })

  it('says so when .env cannot be read', async () => {
    symlinkSync('.env', join(dir, '.env'))
    await expect(readSecretSource({ projectDir: dir })).rejects.toMatchObject({ code: 'FILE_FAILED' })
  })
})
