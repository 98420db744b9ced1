// Callbacks inside a training loop: those of the recipe and of the project. A hook that throws is reported and skipped, and
// training continues.
import { join } from 'node:path'
import type { CallbackHooks, CallbackScope, PluginSpec } from '../../contracts/index.ts'
import { boundary, messageOf, systemCode } from '../../kernel/index.ts'
import { equip, type RunServices } from './run-context.ts'

type Hook = keyof CallbackHooks
type ArgumentsOf<H extends Hook> = Parameters<NonNullable<CallbackHooks[H]>>

export interface LoopCallbacks extends AsyncDisposable {
  /** Whether one of them hears it. */
  has(hook: Hook): boolean
  call<H extends Hook>(hook: H, ...args: ArgumentsOf<H>): Promise<void>
}

export async function openLoopCallbacks(
  specs: readonly PluginSpec[],
  services: RunServices,
  logStore?: PluginSpec,
): Promise<LoopCallbacks> {
  const opened: { kind: string; hooks: CallbackHooks & Partial<AsyncDisposable> }[] = []
  const callbacks: LoopCallbacks = {
    has: (hook) => opened.some(({ hooks }) => hooks[hook] !== undefined),
    async call(hook, ...args) {
      for (const { kind, hooks } of opened) {
        try {
          const method = hooks[hook]
          if (method !== undefined) await Reflect.apply(method, hooks, args)
        } catch (error) {
          services.log('warn', `callback "${kind}" failed in ${hook}: ${messageOf(error)}${fixOf(error, args[0])}`)
        }
      }
    },
    async [Symbol.asyncDispose]() {
      for (const { kind, hooks } of opened) {
        try {
          await hooks[Symbol.asyncDispose]?.()
        } catch (error) {
          services.log('warn', `callback "${kind}" failed to close: ${messageOf(error)}`)
        }
      }
    },
  }
  try {
    for (const spec of specs) {
      const { plugin, context } = equip('callback', spec, services)
      const what = `callback "${spec.kind}", open`
      const hooks = await boundary('PLUGIN_FAILED', what, services.signal, () => plugin.open(context))
      opened.push({ kind: spec.kind, hooks })
    }
    if (logStore !== undefined) opened.push({ kind: logStore.kind, hooks: await openLogStore(logStore, services) })
  } catch (error) {
    await callbacks[Symbol.asyncDispose]()
    throw error
  }
  return callbacks
}

/** Workers and hooks are shut in: of the project they can write one folder. */
function fixOf(error: unknown, { run, outputDir }: CallbackScope): string {
  if (systemCode(error) !== 'EROFS') return ''
  const folder = run?.dir ?? join(outputDir, 'callbacks')
  return `. Project code can write in ${folder} alone: write there, or run with --sandbox process`
}

/** A log store as a callback: metrics of steps and evaluations, the configuration of the run, its checkpoints. */
async function openLogStore(spec: PluginSpec, services: RunServices): Promise<CallbackHooks & AsyncDisposable> {
  const { plugin, context } = equip('log_store', spec, services)
  const what = `log store "${spec.kind}", open`
  const store = await boundary('PLUGIN_FAILED', what, services.signal, () => plugin.open(context))
  let last = 0
  return {
    async onRunStart({ experiment, run }) {
      const { runId: run_id, name, arm, seed, config } = run ?? {}
      await store.hyperparams({ experiment, run_id, name, arm, seed, config })
    },
    async onStepEnd({ step }, metrics) {
      last = step
      await store.metrics(step, 'train', metrics)
    },
    async onBenchmarkEval(_scope, benchmark, split, metrics, _predictions, step = last) {
      const named = Object.entries(metrics).map(([name, value]) => [`${benchmark}/${name}`, value] as const)
      await store.metrics(step, split, Object.fromEntries(named))
    },
    async onCheckpoint({ step }, { kind, uri }) {
      await store.artifact(`step_${step + 1}`, uri, kind)
    },
    [Symbol.asyncDispose]: async () => await store[Symbol.asyncDispose](),
  }
}
