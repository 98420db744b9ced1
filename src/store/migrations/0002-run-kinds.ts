// A run has a kind, and a payload of its kind. Candidates of research were written as trainings, with configurations that nothing
// could run and errors of workers that never were; what they stood for is read out of them.
import { sql } from 'kysely'
import { CandidateFailure, ErrorRecord, FailureClass, type PlannedRun, RecordedPlan } from '../../contracts/index.ts'
import type { Database, Queryable } from '../database/database.ts'
import { parseStored } from '../database/stored-values.ts'

const TEXT: Record<Database['kind'], string> = { sqlite: 'text', postgres: 'text collate "C"' }

export async function up(query: Queryable, kind: Database['kind']): Promise<void> {
  for (const statement of [
    'alter table run rename column config to payload',
    `alter table run add column kind ${TEXT[kind]} not null default 'training'`,
    `alter table run add column failure ${TEXT[kind]}`,
  ]) {
    await sql.raw(statement).execute(query)
  }
  const experiments = await query.selectFrom('experiment').select(['id', 'ix']).orderBy('ix').execute()
  for (const { id } of experiments) await convert(query, id)
}

async function convert(query: Queryable, experimentId: string): Promise<void> {
  const experiment = query.selectFrom('experiment').select('plan').where('id', '=', experimentId)
  const { plan: text } = await experiment.executeTakeFirstOrThrow()
  const plan = parseStored(RecordedPlan, text, `plan of experiment ${experimentId}`)
  const candidates = plan.runs.filter((run) => run.kind === 'candidate')
  if (candidates.length === 0) return
  await query
    .updateTable('experiment')
    .set({ plan: JSON.stringify(plan) })
    .where('id', '=', experimentId)
    .execute()
  for (const run of candidates) await convertRun(query, experimentId, run)
}

async function convertRun(
  query: Queryable,
  experimentId: string,
  { name, candidate }: Extract<PlannedRun, { kind: 'candidate' }>,
): Promise<void> {
  const runs = query.selectFrom('run').select(['id', 'error']).where('experiment_id', '=', experimentId)
  const row = await runs.where('name', '=', name).executeTakeFirst()
  if (row === undefined) return
  const error = row.error === null ? undefined : parseStored(ErrorRecord, row.error, `error of run ${row.id}`)
  const failure = error?.code === 'WORKER_DIED' ? failureOf(error.message) : undefined
  const of = { kind: 'candidate', payload: JSON.stringify(candidate) }
  const ended = failure === undefined ? {} : { error: null, failure: JSON.stringify(failure) }
  await query
    .updateTable('run')
    .set({ ...of, ...ended })
    .where('id', '=', row.id)
    .execute()
}

// `failureError` gives the message back as it was.
function failureOf(message: string): CandidateFailure {
  const colon = message.indexOf(': ')
  const kind = FailureClass.safeParse(message.slice(0, Math.max(0, colon)))
  return CandidateFailure.parse(
    kind.success ? { class: kind.data, reason: message.slice(colon + 2) } : { reason: message },
  )
}
