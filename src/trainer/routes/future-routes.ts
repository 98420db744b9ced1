// Asking for results. A poll is held until there is one, or until clients would give up on it.
import type { Context } from 'hono'
import * as tinker from '../../contracts/tinker/index.ts'
import { HttpError, notFound } from '../http/http-error.ts'
import type { Failure, Future } from '../state/futures.ts'
import type { TrainerState } from '../state/trainer-state.ts'
import { type Api, newRoutes, type Routes } from './api.ts'

export function futureRoutes({ state, json }: Api): Routes {
  const routes = newRoutes()

  routes.post('/retrieve_future', async (c) => {
    const { value } = await json(c.req.raw, tinker.RetrieveFutureRequest)
    const future = findFuture(state, value.request_id)
    await held(state, future.settled, state.limits.holdMs, c.req.raw.signal)
    return respond(c, state, future, value.allow_metadata_only)
  })

  routes.post('/retrieve_futures', async (c) => {
    const { value } = await json(c.req.raw, tinker.RetrieveFuturesRequest)
    const { sampling_session_id: samplerId, cloned_sampler_id: copy } = value.target
    state.sampler(samplerId)
    for (const id of value.retrieved_request_ids) {
      const future = state.futures.find(id)
      if (future instanceof Object && future.samplerId === samplerId) state.futures.expire(future)
    }
    const since = () => state.completions.since(samplerId, copy, value.prev_cursor)
    if (since().completions.length === 0) {
      const holdMs = Math.min(state.limits.holdMs, (value.timeout ?? Number.POSITIVE_INFINITY) * 1000)
      await held(state, state.completions.news(samplerId, copy), Math.max(0, holdMs), c.req.raw.signal)
    }
    return c.json(since())
  })

  routes.post('/cancel_future', async (c) => {
    const { value } = await json(c.req.raw, tinker.CancelFutureRequest)
    const future = findFuture(state, value.request_id)
    if ((future.job !== undefined && state.queue.remove(future.job)) || future.cancel !== undefined) {
      state.futures.settle(future, { failure: { error: 'cancelled', category: 'user' } })
      future.cancel?.()
    }
    return c.json({})
  })
  return routes
}

function findFuture(state: TrainerState, requestId: string): Future {
  const future = state.futures.find(requestId)
  if (future instanceof Object) {
    if (future.sessionId !== undefined) state.sessions.get(future.sessionId)
    return future
  }
  const wasThere = future === 'expired' || state.sessions.isPast(requestId) || isLostDirect(requestId)
  if (wasThere) throw new HttpError(410, `the result of ${requestId} is not kept any more: send its request again`)
  throw notFound(`no request is called ${requestId}`)
}

// Requests outside of a session are named by chance: one that is unknown here was made in an earlier process.
function isLostDirect(requestId: string): boolean {
  return /^direct:[0-9a-f-]{36}$/.test(requestId)
}

/** Waits for something, for so long at most, and no longer than the client does. */
async function held(state: TrainerState, wanted: Promise<void>, forMs: number, client: AbortSignal): Promise<void> {
  const enough = new AbortController()
  const signal = AbortSignal.any([enough.signal, client, state.signal])
  await Promise.race([wanted, state.clock.sleep(forMs, signal).catch(() => {})])
  enough.abort()
}

function respond(c: Context, state: TrainerState, future: Future, mayAnnounce: boolean): Response {
  const { outcome, requestId } = future
  if (outcome === undefined) {
    const reason = state.futures.queueReason(future)
    return c.json({ type: 'try_again', request_id: requestId, queue_state: 'active', queue_state_reason: reason })
  }
  if ('failure' in outcome) return c.json(outcome.failure satisfies Failure)
  const { answer } = outcome
  if (mayAnnounce && answer.sizeBytes >= state.limits.announceBytes) {
    return c.json({ status: 'complete_metadata', response_payload_size: answer.sizeBytes })
  }
  const wantsProtobuf = /application\/(x-)?protobuf/.test(c.req.header('accept') ?? '')
  if (!wantsProtobuf || answer.protobuf === undefined) return Response.json(answer.json())
  return c.body(answer.protobuf(), 200, { 'content-type': 'application/x-protobuf' })
}
