import { extname } from 'node:path'
import { Worker } from 'node:worker_threads'
import { messageOf, sourceLoader } from '../../kernel/index.ts'
import type { StartHome } from './engine-messages.ts'

/** Starts a thread for an engine. */
export const startEngineThread: StartHome = (module, take) => {
  const script = new URL(`./engine-thread${extname(import.meta.url)}`, import.meta.url)
  const isSource = script.pathname.endsWith('.ts')
  const worker = new Worker(script, { workerData: module, execArgv: isSource ? ['--import', sourceLoader()] : [] })
  let why: string | undefined
  worker.on('message', take)
  worker.on('error', (error) => {
    why = messageOf(error)
  })
  return {
    send: (message) => worker.postMessage(message),
    ended: new Promise((resolve) => worker.once('exit', () => resolve(why))),
    kill: () => void worker.terminate(),
  }
}
