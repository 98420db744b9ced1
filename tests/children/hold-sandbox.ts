// Holds a command in a sandbox until it is killed: `hold-sandbox FOLDER LEVEL TAG`. Prints `up` when the command runs.
import { Level } from '../../src/contracts/index.ts'
import { openSandbox } from '../../src/sandbox/index.ts'

const [folder = '', level = '', tag = ''] = process.argv.slice(2)
const limits = { timeoutMs: 600_000, memoryBytes: 256 << 20, outputBytes: 100_000, processes: 32, diskBytes: 64 << 20 }
const sandbox = await openSandbox({ stateDir: folder, level: Level.parse(level) })
const argv = ['/bin/sh', '-c', '(while :; do read x; done) & echo up; while :; do read x || :; done', tag]
const talk = await sandbox.spawn({ argv, limits }, new AbortController().signal)
for await (const { text } of talk.output) process.stdout.write(text)
