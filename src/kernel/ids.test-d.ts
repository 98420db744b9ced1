import { expectTypeOf } from 'vitest'
import { createIds, type Id } from './ids.ts'

declare const ids: ReturnType<typeof createIds>
expectTypeOf(createIds).parameter(0).toHaveProperty('clock')
expectTypeOf(ids.next('run')).toEqualTypeOf<Id<'run'>>()
expectTypeOf(ids.next('run')).toExtend<string>()

// An id of one kind does not pass for another.
// @ts-expect-error
const wrong: Id<'exp'> = ids.next('run')
expectTypeOf(wrong).toExtend<string>()
