// The first module of a process that has spares to start: they come before anything else is loaded, then the script itself.
import { type ForkSpec, startSpare } from './spare.ts'

const [script = '', spares = '[]'] = process.argv.splice(2, 2)
for (const spare of JSON.parse(spares) as ForkSpec[]) startSpare(spare) // written by `bootArgs`
await import(script)
