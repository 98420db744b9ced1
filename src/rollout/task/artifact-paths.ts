// Rules for the paths of artifacts: where one may come from, and where it lands below the folder of artifacts.

/** Name of the list of what was collected; no artifact may take it. */
export const manifestName = 'manifest.json'

type Paths = { source: string; destination?: string | undefined; service?: string | undefined }

/** What is wrong with the paths of an artifact; undefined: nothing. */
export function artifactFault({
  source,
  destination,
  service,
}: Paths): { key: 'source' | 'destination'; message: string } | undefined {
  const refuse = (key: 'source' | 'destination', message: string) => ({ key, message })
  if (hasParent(source)) return refuse('source', `must not contain "..", got ${JSON.stringify(source)}`)
  if (source.includes('\0')) return refuse('source', 'must not contain a NUL')
  if (service !== undefined && service !== 'main' && !isAbsolute(source)) {
    return refuse('source', `must be absolute in the service "${service}", got ${JSON.stringify(source)}`)
  }
  if (destination === undefined) return undefined
  const shown = JSON.stringify(destination)
  if (/[\\\0]/.test(destination)) return refuse('destination', `must use forward slashes alone, got ${shown}`)
  if (isAbsolute(destination))
    return refuse('destination', `must be relative to the artifacts of the trial, got ${shown}`)
  if (hasParent(destination)) return refuse('destination', `must not contain "..", got ${shown}`)
  const parts = partsOf(destination)
  if (parts.length === 0) return refuse('destination', `must name a file or folder, got ${shown}`)
  if (parts.join('/') === manifestName)
    return refuse('destination', `"${manifestName}" is the list of what was collected`)
  return undefined
}

/** Where an artifact lands below the folder of artifacts: `/app/x` at `app/x`, unless it says otherwise. */
export function artifactPlace({ source, destination }: Paths): string {
  return partsOf(destination ?? source)
    .filter((part) => part !== '..')
    .join('/')
}

/** Whether one place is the other, or lies in it: then only the first of the two is collected. */
export function placesOverlap(a: string, b: string): boolean {
  return a === b || a === '' || b === '' || a.startsWith(`${b}/`) || b.startsWith(`${a}/`)
}

function partsOf(path: string): string[] {
  return path.split('/').filter((part) => part !== '' && part !== '.')
}

function hasParent(path: string): boolean {
  return path.split(/[/\\]/).includes('..')
}

function isAbsolute(path: string): boolean {
  return path.startsWith('/') || /^[A-Za-z]:[/\\]/.test(path)
}
