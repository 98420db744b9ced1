// The process of a worker. What takes long to start and needs nothing of ours, such as a trainer, comes first; then what does runs.
interface Early {
  startEarly(args: readonly string[]): void
  loadEarly(): void
  dropEarly(): void
}

const [module, ...args] = process.argv.slice(2)
const early: Early | undefined = module === undefined ? undefined : await import(module) // one of evsys, named by the controller
early?.startEarly(args)
const { serveRuns } = await import('./serve-runs.ts')
await serveRuns(early === undefined ? {} : { onReady: early.loadEarly, onRunEnd: early.dropEarly })

export {}
