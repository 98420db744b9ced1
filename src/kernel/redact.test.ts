import { inspect } from 'node:util'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { EvsysError } from './evsys-error.ts'
import { createRedactor, maskKeys } from './redact.ts'

const value = 'pa$$ "word"/ä+1'
const redact = createRedactor({ KEY: value, LONG: 's3cr3t-0123456789' })

describe('createRedactor', () => {
  it.each([
    ['itself', value],
    ['in JSON', JSON.stringify({ value })],
    ['in JSON in JSON', JSON.stringify(JSON.stringify({ value }))],
    ['in a URL', encodeURIComponent(value)],
    ['in a URL, lower case', encodeURIComponent(value).replace(/%../g, (code) => code.toLowerCase())],
    ['in a form', new URLSearchParams({ value }).toString()],
    ['in base64', Buffer.from(value).toString('base64')],
    ['in base64url', Buffer.from(value).toString('base64url')],
    ['in Basic authorization', `x ${Buffer.from(`user:${value}`).toString('base64')}`],
    ['in base64 of a longer text', Buffer.from(`ab${value}cd`).toString('base64')],
    ['in hexadecimal', Buffer.from(value).toString('hex')],
    ['in upper-case hexadecimal', Buffer.from(value).toString('hex').toUpperCase()],
    ['misread as Latin 1', Buffer.from(value).toString('latin1')],
  ])('finds a secret %s (KER-13)', (_where, text) => {
    expect(redact(text)).toContain('[secret:KEY]')
  })

  it('keeps what stands around (KER-13)', () => {
    expect(redact(`before ${value} between s3cr3t-0123456789 after`)).toBe(
      'before [secret:KEY] between [secret:LONG] after',
    )
  })

  it('goes through everything an event can hold, keys included (KER-13)', () => {
    const event = {
      text: value,
      list: [value, { deep: value }],
      [`key ${value}`]: 1,
      map: new Map([[value, value]]),
      set: new Set([value]),
      url: new URL(`https://host/?q=${encodeURIComponent(value)}`),
      bytes: Buffer.from(`in bytes: ${value}`),
      error: new Error(`failed with ${value}`, { cause: new TypeError(value) }),
    }
    const clean = redact(event)
    const all = inspect(clean, { depth: 10 }) + JSON.stringify(clean) + Buffer.from(clean.bytes).toString('latin1')
    for (const form of [value, 'word', encodeURIComponent(value)]) expect(all).not.toContain(form)
    expect(Buffer.from(clean.bytes).toString()).toBe('in bytes: [secret:KEY]')
    expect(clean.error).toBeInstanceOf(Error)
    expect(clean.error.message).toBe('failed with [secret:KEY]')
    expect(clean.map.get('[secret:KEY]')).toBe('[secret:KEY]')
    expect(event.text).toBe(value)
  })

  it('cleans our own errors, which stay our errors (KER-13)', () => {
    const error = new EvsysError('BACKEND_FAILED', `401 for ${value}`, { fix: `not ${value}`, retryable: true })
    const clean = redact(error)
    expect(EvsysError.is(clean)).toBe(true)
    expect(clean.toRecord()).toEqual({
      code: 'BACKEND_FAILED',
      message: '401 for [secret:KEY]',
      fix: 'not [secret:KEY]',
    })
    expect(clean.retryable).toBe(true)
    expect(clean.stack).not.toContain(value)
  })

  it('finds each line of a key of several lines, and a value whose file ends in a newline (KER-13)', () => {
    const pem = createRedactor({ PEM: 'first-line-of-the-key\nsecond-line-of-the-key\n', FILE: 'from-a-file\n' })
    expect(pem('log: second-line-of-the-key')).toBe('log: [secret:PEM]')
    expect(pem('sent from-a-file to the server')).toBe('sent [secret:FILE] to the server')
  })

  it('takes the longest of two secrets that overlap, and leaves marks alone (KER-13)', () => {
    const both = createRedactor({ A: 'hunter2', B: 'hunter2-extended', WORD: 'secret' })
    const once = both('hunter2-extended hunter2 secret')
    expect(once).toBe('[secret:B] [secret:A] [secret:WORD]')
    expect(both(once)).toBe(once)
  })

  it.each(['', 'abc', ' ab \n'])('refuses the value %j, which is in every text (KER-13)', (short) => {
    expect(() => createRedactor({ PIN: short })).toThrow(expect.objectContaining({ code: 'SECRET_MISSING' }))
  })

  it('survives cycles, getters that throw, and depth: what cannot be read does not pass (KER-13)', () => {
    const loop: Record<string, unknown> = { value }
    loop.self = loop
    const clean = redact(loop)
    expect(clean.self).toBe(clean)
    expect(clean.value).toBe('[secret:KEY]')
    const trap = {
      get leak(): string {
        throw new Error(value)
      },
    }
    expect(redact({ trap })).toEqual({ trap: '[not shown: cannot be searched for secrets]' })
    let deep: unknown = value
    for (let i = 0; i < 100_000; i++) deep = [deep]
    expect(inspect(redact(deep), { depth: 300 })).toContain('nested too deeply')
  })

  it('leaves other values as they are', () => {
    const plain = {
      n: 1,
      b: true,
      nil: null,
      un: undefined,
      at: new Date(0),
      weights: new Float32Array([1, 2]),
      big: 1n,
    }
    expect(redact(plain)).toEqual(plain)
    fc.assert(
      fc.property(fc.jsonValue(), (json) => {
        expect(createRedactor({ KEY: 'never-in-a-test' })(json)).toEqual(json)
      }),
    )
  })

  it('lets no secret through, wherever it stands, and cleans once (KER-13)', () => {
    const secret = fc.stringMatching(/^[a-zA-Z0-9_\-.~+/=]{8,24}$/)
    const around = fc.string({ maxLength: 12 })
    fc.assert(
      fc.property(secret, secret, around, around, fc.boolean(), (first, second, left, right, encode) => {
        fc.pre(!'[secret:A][secret:B]'.includes(first) && !'[secret:A][secret:B]'.includes(second))
        const clean = createRedactor({ A: first, B: second })
        const raw = `${left}${first}${right}${second}${left}`
        const text = encode ? Buffer.from(raw).toString('base64') : raw
        const once = clean({ text }).text
        const seen = encode ? Buffer.from(once.replace(/\[secret:?\w*\]/g, '____'), 'base64').toString() : once
        expect(seen).not.toContain(first)
        expect(seen).not.toContain(second)
        expect(clean(once)).toBe(once)
      }),
    )
  })
})

// Made up; the right shape is all they have in common with real ones.
const letters = 'aB3dE6gH9jK2mN5pQ8sT1vW4yZ7bC0fG'

describe('maskKeys', () => {
  it.each([
    ['OpenAI', `key sk-${letters} used`, 'key [secret] used'],
    ['OpenAI project', `sk-proj-${letters}_-${letters}`, '[secret]'],
    ['Anthropic', `sk-ant-api03-${letters}-AA`, '[secret]'],
    ['Hugging Face', `hf_${letters}`, '[secret]'],
    ['Tinker', `tml-${letters}`, '[secret]'],
    ['Fireworks', `fw_${letters}`, '[secret]'],
    ['AWS', 'AKIAIOSFODNN7EXAMPLE', '[secret]'],
    ['Google', `AIza${letters}abc`, '[secret]'],
    ['GitHub', `ghp_${letters}abcd`, '[secret]'],
    ['Slack', 'xoxb-1234567890-abcdef', '[secret]'],
    ['Bearer', `Authorization: Bearer ${letters}==`, 'Authorization: Bearer [secret]'],
    ['Basic', 'authorization: Basic dXNlcjpwYXNzd29yZA==', 'authorization: Basic [secret]'],
    ['a JSON header', '{"Authorization":"dXNlcjpwYXNzd29yZA"}', '{"Authorization":"[secret]"}'],
    ['a JSON Web Token', 'eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0In0.abcdefghijkl', '[secret]'],
    ['a URL', 'postgres://evsys:hunter2@db/evsys', 'postgres://evsys:[secret]@db/evsys'],
    ['a private key', `-----BEGIN RSA PRIVATE KEY-----\n${letters}\n-----END RSA PRIVATE KEY-----`, '[secret]'],
    [
      'a private key in JSON',
      `"-----BEGIN PRIVATE KEY-----\\n${letters}\\n-----END PRIVATE KEY-----\\n"`,
      '"[secret]\\n"',
    ],
    ['a private key that was cut off', `-----BEGIN PRIVATE KEY-----\n${letters}\n${letters}`, '[secret]'],
  ])('hides a key of %s (KER-13)', (_service, text, masked) => {
    expect(maskKeys(text)).toBe(masked)
    expect(maskKeys(masked)).toBe(masked)
  })

  it.each([
    'sk-learn is a library',
    'the bearer of this letter',
    'token_embedding_layer_12.weight_matrix_float32',
    'hf_transfer',
    'fw_bw_kernel_float32_block_128_x4',
    'https://huggingface.co/evsys/tiny',
    'http://[::1]:8080/path@v1',
    'git@github.com:evsys/evsys.git',
    'val.pass@1 rose from 0.41 to 0.43',
    'c0ffee'.repeat(10),
    'BEGIN PRIVATE KEY',
  ])('leaves alone: %s', (text) => {
    expect(maskKeys(text)).toBe(text)
  })

  it.each([
    'sk-',
    'eyJ-',
    '://a:',
    'Bearer ',
    '-----BEGIN PRIVATE KEY-----',
    'authorization:',
    'AKIA',
    'eyJaaaaaaaaaaaa.',
  ])('finishes a megabyte of %j', (part) => {
    const text = part.repeat(Math.ceil(1_000_000 / part.length))
    expect(maskKeys(text).length).toBeLessThanOrEqual(text.length * 2)
  })
})
