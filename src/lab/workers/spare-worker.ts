// A worker that starts before it is known whether there will be a run: its process is up when the first one is handed out. It has
// loaded the plugins and nothing else; where there is no run, it is closed.
import type { RunAssignment } from '../../contracts/index.ts'
import { startWorkerProcess, type WorkerProcess, type WorkerProcessOptions } from './worker-process.ts'

type PluginFiles = RunAssignment['plugin_files']

export interface SpareWorker extends AsyncDisposable {
  /** Starts the process, which loads its own code. The second time nothing happens. */
  start(options: Omit<WorkerProcessOptions, 'pluginFiles'>): void
  /** Has it load the plugins. */
  load(pluginFiles: PluginFiles): void
  /** The worker and the plugins that it has; whoever takes it closes it. */
  take(): { readonly worker: WorkerProcess; readonly pluginFiles: PluginFiles } | undefined
}

export function createSpareWorker(startProcess = startWorkerProcess): SpareWorker {
  let worker: WorkerProcess | undefined
  let pluginFiles: PluginFiles | undefined
  let know: (files: PluginFiles) => void = () => {}
  return {
    start(options) {
      if (worker !== undefined) return
      const known = new Promise<PluginFiles>((resolve) => {
        know = resolve
      })
      worker = startProcess({ ...options, pluginFiles: known })
    },
    load(files) {
      pluginFiles = files
      know(files)
    },
    take() {
      if (worker === undefined || pluginFiles === undefined) return undefined
      const taken = { worker, pluginFiles }
      worker = undefined
      return taken
    },
    async [Symbol.asyncDispose]() {
      await worker?.close()
      worker = undefined
    },
  }
}
