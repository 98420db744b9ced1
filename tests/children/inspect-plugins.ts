// Holds the plugins of a project until it is killed: `inspect-plugins DIR`.
import { inspectPlugins } from '../../src/kernel/plugins/plugin-host.ts'

const [projectDir = ''] = process.argv.slice(2)
setInterval(() => {}, 60_000)
await inspectPlugins({ projectDir, signal: new AbortController().signal })
