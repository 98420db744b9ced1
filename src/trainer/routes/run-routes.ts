// Runs and checkpoints, for people. They outlive the process that made them.
import * as tinker from '../../contracts/tinker/index.ts'
import { type ArchiveFiles, createPathSigner, tarFile } from '../archive/archive-files.ts'
import { HttpError, notFound, unprocessable } from '../http/http-error.ts'
import { checkTtl } from '../operations/save-model.ts'
import type { Access } from '../state/access.ts'
import { type CheckpointEntry, pathOf, type RunRecord } from '../state/checkpoint-files.ts'
import { type Api, page } from './api.ts'

const archiveMs = 15 * 60_000
const checkpointRoute = '/training_runs/:run/checkpoints/:kind/:name'

export function addRunRoutes({ state, routes, json, post }: Api, archiveFiles: ArchiveFiles): void {
  const signer = createPathSigner()

  routes.get('/training_runs', (c) => {
    const { limit, offset } = page(c.req.query())
    const projectId = c.req.query('project_id')
    const runs = c.env.runs
      .filter((run) => projectId === undefined || state.sessions.find(run.session_id)?.projectId === projectId)
      .toSorted((a, b) => b.created_ms - a.created_ms)
    return c.json({
      training_runs: runs.slice(offset, offset + limit).map((run) => showRun(c.env, run)),
      cursor: { offset, limit, total_count: runs.length },
    })
  })
  routes.get('/training_runs/:run', (c) => c.json(showRun(c.env, findRun(c.env, c.req.param('run')))))
  routes.get('/training_runs/:run/checkpoints', (c) => {
    const { run_id } = findRun(c.env, c.req.param('run'))
    return c.json({ checkpoints: c.env.checkpoints(run_id).map(showCheckpoint), cursor: null })
  })
  routes.get('/checkpoints', (c) => {
    const { limit, offset } = page({ limit: '100', ...c.req.query() })
    const all = c.env.checkpoints()
    return c.json({
      checkpoints: all.slice(offset, offset + limit).map(showCheckpoint),
      cursor: { offset, limit, total_count: all.length },
    })
  })

  routes.delete(checkpointRoute, async (c) => {
    await state.checkpoints.remove(await c.env.ownCheckpoint(pathFrom(c.req.param())))
    return c.body(null, 204)
  })
  routes.on(['POST', 'DELETE'], `${checkpointRoute}/publish`, async (c) => {
    const entry = await c.env.ownCheckpoint(pathFrom(c.req.param()))
    const isPublic = c.req.method === 'POST'
    if (entry.public === isPublic)
      throw new HttpError(409, `the checkpoint is ${isPublic ? 'public already' : 'not public'}`)
    await state.checkpoints.update(entry, { public: isPublic })
    return c.body(null, 204)
  })
  routes.put(`${checkpointRoute}/ttl`, async (c) => {
    const entry = await c.env.ownCheckpoint(pathFrom(c.req.param()))
    const { ttl_seconds } = (await json(c, tinker.TtlRequest)).value
    const ttl = ttl_seconds === null ? undefined : checkTtl(ttl_seconds, 400)
    const expires_ms = ttl === undefined ? null : state.clock.now() + ttl * 1000
    await state.checkpoints.update(entry, { expires_ms })
    return c.body(null, 204)
  })
  routes.get(`${checkpointRoute}/archive`, async (c) => {
    const expiresMs = state.clock.now() + archiveMs
    const token = signer.sign(pathOf(await c.env.checkpoint(pathFrom(c.req.param()))), expiresMs)
    const location = new URL(`./archives/${token}`, new URL(c.req.url.replace(/\/training_runs\/.*$/, '/')))
    return c.body(null, 302, { location: location.href, expires: new Date(expiresMs).toUTCString() })
  })
  routes.get('/archives/:token', async (c) => {
    const path = signer.open(c.req.param('token'), state.clock.now())
    const parsed = path === undefined ? undefined : tinker.parseTinkerPath(path)
    const entry = parsed === undefined ? undefined : state.checkpoints.find(parsed)
    if (entry === undefined) throw notFound('the address has expired')
    const files = await archiveFiles(await state.checkpoints.read(entry), entry.run)
    return c.body(tarFile(files), 200, {
      'content-type': 'application/x-tar',
      'content-disposition': `attachment; filename="${entry.name}.tar"`,
    })
  })
  routes.on(['GET', 'POST', 'PUT', 'DELETE'], '/training_runs/:run/checkpoints/:name/:rest?', () => {
    throw unnamed()
  })

  post('/weights_info', tinker.WeightsInfoRequest, async ({ tinker_path }, access) => {
    const path = tinker.parseTinkerPath(tinker_path)
    if (path === undefined) throw unprocessable(['body', 'tinker_path'], 'expected tinker://<run>/<kind>/<name>')
    const { base_model, lora } = (await access.checkpoint(path)).run
    if (lora === undefined) return { base_model, is_lora: false }
    const { rank, train_unembed, train_mlp, train_attn } = lora
    return { base_model, is_lora: true, lora_rank: rank, train_unembed, train_mlp, train_attn }
  })
}

function findRun(access: Access, id: string): RunRecord {
  const run = access.run(id)
  if (run === undefined) throw notFound(`no training run is called ${id}`)
  return run
}

function pathFrom({ run = '', kind = '', name = '' }: Record<string, string>): tinker.TinkerPath {
  if (kind !== 'weights' && kind !== 'sampler_weights') throw unnamed()
  const path = tinker.parseTinkerPath(`tinker://${run}/${kind}/${name}`)
  if (path === undefined) throw notFound('there is no such checkpoint')
  return path
}

function unnamed(): HttpError {
  return new HttpError(400, 'a checkpoint is named weights/<name> or sampler_weights/<name>')
}

function showCheckpoint(entry: CheckpointEntry): tinker.Checkpoint {
  return {
    checkpoint_id: `${entry.folder}/${entry.name}`,
    checkpoint_type: tinker.checkpointFolders[entry.folder],
    time: iso(entry.created_ms),
    tinker_path: pathOf(entry),
    size_bytes: entry.size_bytes,
    public: entry.public,
    user_metadata: entry.user_metadata,
    expires_at: entry.expires_ms === null ? null : iso(entry.expires_ms),
  }
}

function showRun(access: Access, run: RunRecord): tinker.TrainingRun {
  const checkpoints = access.checkpoints(run.run_id)
  const last = (folder: CheckpointEntry['folder']) => {
    const found = checkpoints.find((entry) => entry.folder === folder)
    return found === undefined ? null : showCheckpoint(found)
  }
  return {
    training_run_id: run.run_id,
    base_model: run.base_model,
    model_owner: run.tenant ?? 'local',
    is_lora: run.lora !== undefined,
    corrupted: false,
    lora_rank: run.lora?.rank ?? null,
    last_request_time: iso(access.state.models.get(run.run_id)?.lastRequestMs ?? run.created_ms),
    last_checkpoint: last('weights'),
    last_sampler_checkpoint: last('sampler_weights'),
    user_metadata: run.user_metadata,
  }
}

function iso(ms: number): string {
  return new Date(ms).toISOString()
}
