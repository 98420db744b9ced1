// Spellings of older task.toml schemas, and short forms, as schema 1.4 writes them. It checks only what it turns around.

type Path = (string | number)[]
type Tell = (path: Path, message: string, fix?: string) => void
type Table = Record<string, unknown>

/** A raw task.toml in today's spelling. Deprecated fields are noticed, contradictions are faults. */
export function modernise(raw: Table, tell: { fault: Tell; notice: Tell }): Table {
  const { version, ...task } = raw
  if (version !== undefined) task.schema_version ??= version
  if (typeof task.schema_version === 'number') task.schema_version = task.schema_version.toFixed(1)
  edit(task, 'environment', (table) => environment(table, ['environment'], tell))
  edit(task, 'verifier', (table) => verifier(table, ['verifier'], tell))
  if ('artifacts' in task) task.artifacts = artifacts(task.artifacts)
  if (Array.isArray(task.steps)) {
    task.steps = task.steps.map((each: unknown, index) => {
      if (!isTable(each)) return each
      const step = { ...each }
      edit(step, 'verifier', (table) => verifier(table, ['steps', index, 'verifier'], tell))
      if ('artifacts' in step) step.artifacts = artifacts(step.artifacts)
      return step
    })
  }
  return task
}

function verifier(written: Table, path: Path, tell: { fault: Tell; notice: Tell }): Table {
  const table = { ...written }
  edit(table, 'environment', (inner) => environment(inner, [...path, 'environment'], tell))
  return table
}

function environment(written: Table, path: Path, { fault, notice }: { fault: Tell; notice: Tell }): Table {
  const { memory, storage, allow_internet: allowInternet, ...table } = written
  if (typeof table.os === 'string') table.os = table.os.toLowerCase()
  for (const [key, size] of [
    ['memory', memory],
    ['storage', storage],
  ] as const) {
    if (size === undefined) continue
    const place = [...path, key]
    const modern = `${key}_mb`
    const megabytes = typeof size === 'string' ? parseSize(size) : undefined
    if (megabytes === undefined) {
      fault(place, `expected a size such as "2G" or "512M", got ${JSON.stringify(size)}`, `write ${modern} = 2048.`)
    } else if (table[modern] !== undefined && table[modern] !== megabytes) {
      const message = `${JSON.stringify(size)} is ${megabytes} MB, but ${modern} is ${String(table[modern])}`
      fault(place, message, `keep ${modern} alone.`)
    } else {
      table[modern] = megabytes
      notice(place, `is the old spelling of ${modern}`, `write ${modern} = ${megabytes}.`)
    }
  }
  if (typeof allowInternet === 'boolean') {
    const mode = allowInternet ? 'public' : 'no-network'
    notice([...path, 'allow_internet'], 'is the old spelling of network_mode', `write network_mode = "${mode}".`)
    if (table.network_mode === undefined && table.allowed_hosts === undefined) table.network_mode = mode
  } else if (allowInternet !== undefined) {
    const message = `expected true or false, got ${JSON.stringify(allowInternet)}`
    fault([...path, 'allow_internet'], message, 'write network_mode = "public" or "no-network" in its place.')
  }
  if (Array.isArray(table.mcp_servers)) {
    table.mcp_servers = table.mcp_servers.map((server: unknown) =>
      isTable(server) && server.transport === 'http' ? { ...server, transport: 'streamable-http' } : server,
    )
  }
  return table
}

function artifacts(written: unknown): unknown {
  if (!Array.isArray(written)) return written
  return written.map((each: unknown) => {
    if (typeof each === 'string') return { source: each }
    if (!isTable(each) || each.destination !== '') return each
    const { destination: _empty, ...artifact } = each
    return artifact
  })
}

// "2G", "512M", "1024K": to whole megabytes.
function parseSize(text: string): number | undefined {
  const match = /^([0-9]+(?:\.[0-9]+)?)([GMK])$/.exec(text.trim().toUpperCase())
  if (match === null) return undefined
  const factor = { G: 1024, M: 1, K: 1 / 1024 }[match[2] ?? ''] ?? 1
  return Math.trunc(Number(match[1]) * factor)
}

function edit(table: Table, key: string, change: (inner: Table) => Table): void {
  const inner = table[key]
  if (isTable(inner)) table[key] = change(inner)
}

function isTable(value: unknown): value is Table {
  return typeof value === 'object' && value !== null && !Array.isArray(value) && !(value instanceof Date)
}
