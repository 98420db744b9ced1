import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { expect, it } from 'vitest'
import { needs } from '../../../tests/needs.ts'
import { temporaryFolders } from '../../../tests/temporary-folder.ts'
import { collectArtifacts } from './collect-artifacts.ts'
import { copyOut } from './state-copy.ts'

const newFolder = temporaryFolders()
const linux = needs('Linux', () => process.platform === 'linux' || `this is ${process.platform}`)
const { signal } = new AbortController()

function environment(files: Record<string, string>) {
  const root = newFolder()
  mkdirSync(join(root, 'logs/artifacts'), { recursive: true })
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(dirname(join(root, name)), { recursive: true })
    writeFileSync(join(root, name), text)
  }
  const state = { places: [{ target: '/', source: root }], trash: newFolder(), downloadBytes: 1e6 }
  return {
    workdir: '/app',
    download: async (source: string, target: string) => {
      await copyOut(state, source, target)
    },
  }
}

const artifact = (source: string, fields: object = {}) => ({ source, exclude: [], ...fields })

linux.describe('collectArtifacts', () => {
  it('brings each to its place and tells what became of it (HAR-42)', async () => {
    const target = join(newFolder(), 'artifacts')
    const place = environment({
      'app/x': 'x',
      'app/out/keep.txt': 'k',
      'app/out/skip.log': 's',
      'app/out/cache/c': 'c',
      'logs/artifacts/mark': 'm',
    })
    const entries = [
      artifact('/app/x'),
      artifact('/app/missing'),
      artifact('out', { destination: 'results', exclude: ['*.log', 'cache'] }),
      artifact('/app/x', { destination: 'app/x' }),
      artifact('/data', { service: 'db' }),
    ]
    const manifest = await collectArtifacts({ environment: place, entries, target, signal })
    expect(manifest.map(({ source, destination, type, status }) => [source, destination, type, status])).toEqual([
      ['/logs/artifacts', 'logs/artifacts', 'directory', 'ok'],
      ['/app/x', 'app/x', 'file', 'ok'],
      ['/app/missing', 'app/missing', 'file', 'failed'],
      ['out', 'results', 'directory', 'ok'],
      ['/app/x', 'app/x', 'file', 'skipped'],
      ['/data', 'data', 'file', 'skipped'],
    ])
    expect(readFileSync(join(target, 'app/x'), 'utf8')).toBe('x')
    expect(readdirSync(join(target, 'results'))).toEqual(['keep.txt'])
    expect(JSON.parse(readFileSync(join(target, 'manifest.json'), 'utf8'))).toEqual(manifest)
  })

  it('calls a folder without files empty, and never replaces the manifest (HAR-42)', async () => {
    const target = newFolder()
    const entries = [artifact('/manifest.json'), artifact('/logs/artifacts', { exclude: ['x'] })]
    const manifest = await collectArtifacts({
      environment: environment({ 'manifest.json': '[]' }),
      entries,
      target,
      signal,
    })
    expect(manifest.map(({ source, status }) => [source, status])).toEqual([
      ['/manifest.json', 'skipped'],
      ['/logs/artifacts', 'empty'],
    ])
  })
})
