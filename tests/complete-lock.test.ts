import { describe, expect, it } from 'vitest'
import { findMissing, platformOf } from '../scripts/complete-lock.mjs'

describe('findMissing', () => {
  it('finds optional packages without an entry, wherever Node would look for them (REPO-2)', () => {
    const packages = {
      '': {},
      'node_modules/a': { dev: true, optionalDependencies: { 'a-linux-x64': '1.0.0', 'a-win32-x64': '1.0.0' } },
      'node_modules/a-linux-x64': { version: '1.0.0' },
      'node_modules/b': {},
      'node_modules/b/node_modules/c': { optionalDependencies: { d: '2.0.0', e: '2.0.0', f: '2.0.0' } },
      'node_modules/b/node_modules/c/node_modules/d': { version: '2.0.0' },
      'node_modules/b/node_modules/e': { version: '2.0.0' },
    }
    expect(findMissing(packages)).toEqual([
      { name: 'a-win32-x64', version: '1.0.0', dev: true },
      { name: 'f', version: '2.0.0', dev: false },
    ])
  })
})

describe('platformOf', () => {
  it.each([
    ['@acme/binding-darwin-arm64', { os: ['darwin'], cpu: ['arm64'] }],
    ['@acme/binding-linux-x64-gnu', { os: ['linux'], cpu: ['x64'], libc: ['glibc'] }],
    ['@acme/binding-linux-arm-musleabihf', { os: ['linux'], cpu: ['arm'], libc: ['musl'] }],
    ['@acme/cli-linux-x64', { os: ['linux'], cpu: ['x64'] }],
    ['@acme/binding-win32-ia32-msvc', { os: ['win32'], cpu: ['ia32'] }],
    ['@acme/binding-wasm32-wasi', { cpu: ['wasm32'] }],
  ])('reads %s (REPO-2)', (name, platform) => {
    expect(platformOf(name)).toEqual(platform)
  })

  it('does not guess (REPO-2)', () => {
    expect(() => platformOf('fsevents')).toThrow('does not tell its platform')
  })
})
