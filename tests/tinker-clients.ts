// Clients of a double of the training service; everything is closed when a test ends.
import { onTestFinished } from 'vitest'
import type { Datum, Engine } from '../src/contracts/index.ts'
import { createMockEngine } from '../src/engine/mock/mock-engine.ts'
import {
  createTinkerClient,
  type TinkerClient,
  type TinkerClientOptions,
  type TinkerEvent,
} from '../src/tinker/index.ts'
import { type DoubleOptions, startTinkerDouble, type TinkerDouble } from './tinker-double.ts'

export type Opened = { client: TinkerClient; double: TinkerDouble; events: TinkerEvent[] }

/** A double and a client of it. `misbehave` is set up before the client connects. */
export async function openClient(
  options: Partial<TinkerClientOptions> & {
    double?: DoubleOptions | undefined
    misbehave?: Parameters<TinkerDouble['misbehave']>[0] | undefined
  } = {},
): Promise<Opened> {
  const { double: doubleOptions, misbehave, ...clientOptions } = options
  const double = await startTinkerDouble(doubleOptions)
  if (misbehave !== undefined) double.misbehave(misbehave)
  const events: TinkerEvent[] = []
  const client = await createTinkerClient({
    baseUrl: double.url,
    apiKey: 'tml-test',
    preset: 'evsys',
    heartbeatMs: 0,
    onEvent: (event) => events.push(event),
    ...clientOptions,
  })
  onTestFinished(async () => {
    await client.close()
    await double[Symbol.asyncDispose]()
  })
  return { client, double, events }
}

/** A datum of cross entropy: each token predicts the next. */
export function datum(tokens: readonly number[], weights?: readonly number[]): Datum {
  const shape = [tokens.length - 1]
  return {
    tokens: Int32Array.from(tokens.slice(0, -1)),
    lossInputs: {
      target_tokens: { data: Int32Array.from(tokens.slice(1)), shape },
      weights: { data: Float32Array.from(weights ?? tokens.slice(1).map(() => 1)), shape },
    },
  }
}

export const adam = Object.freeze({ learningRate: 0.1, beta1: 0.9, beta2: 0.95, eps: 1e-8 })

/** A real engine for a double: bigram models over 32 tokens. */
export function bigramEngine(): Engine {
  return createMockEngine({ vocabSize: 32 })
}
