// A worker that starts before it is known whether there will be a run: its process is up when the first one is handed out. It has
// loaded the plugins and nothing else; where there is no run, it is closed.
import { startWorkerProcess, type WorkerProcess, type WorkerProcessOptions } from './worker-process.ts'

export interface SpareWorker extends AsyncDisposable {
  start(options: WorkerProcessOptions): void
  /** The worker and the plugins that it has; whoever takes it closes it. */
  take(): { readonly worker: WorkerProcess; readonly pluginFiles: WorkerProcessOptions['pluginFiles'] } | undefined
}

export function createSpareWorker(startProcess = startWorkerProcess): SpareWorker {
  let spare: ReturnType<SpareWorker['take']>
  return {
    start(options) {
      spare ??= { worker: startProcess(options), pluginFiles: options.pluginFiles }
    },
    take() {
      const taken = spare
      spare = undefined
      return taken
    },
    async [Symbol.asyncDispose]() {
      await this.take()?.worker.close()
    },
  }
}
