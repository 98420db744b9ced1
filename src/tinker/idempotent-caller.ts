// Keys by which a service may recognise a call that is sent again.
import { randomUUID } from 'node:crypto'
import type { Caller } from './caller.ts'

/** Gives each call one key, the same for each time it is sent. */
export function idempotentCaller(caller: Caller): Caller {
  const keyed = <C extends Parameters<Caller['answer']>[0]>(call: C): C =>
    call.method === 'GET' ? call : { ...call, headers: { 'x-idempotency-key': randomUUID(), ...call.headers } }
  return {
    answer: (call) => caller.answer(keyed(call)),
    json: (call, schema) => caller.json(keyed(call), schema),
    done: (call) => caller.done(keyed(call)),
  }
}
