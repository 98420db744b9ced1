import { describe, expect, it } from 'vitest'
import { maskKeys } from './mask-keys.ts'

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
