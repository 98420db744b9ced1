import { expectTypeOf } from 'vitest'
import { withoutUndefined } from './hash.ts'

declare const maybe: string | undefined
declare const either: { kind: 'a'; x: number | undefined } | { kind: 'b'; y?: string | null }

// What may be undefined becomes optional and exact; what may not stays required; unions stay unions.
expectTypeOf(withoutUndefined({ id: 1, name: maybe })).toEqualTypeOf<{ id: number; name?: string }>()
expectTypeOf(withoutUndefined(either)).toEqualTypeOf<{ kind: 'a'; x?: number } | { kind: 'b'; y?: string | null }>()

// @ts-expect-error an optional key may be absent
const name: string = withoutUndefined({ name: maybe }).name
void name
