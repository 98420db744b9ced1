import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { temporaryFolders } from '../temporary-folder.ts'
import { runMain } from './run-main.ts'
import { serving } from './serving.ts'

const folder = temporaryFolders()

describe('evsys serve', { timeout: 240_000 }, () => {
  it('says where it listens, serves until it is interrupted, and keeps its checkpoints in the project (TRN-1)', async () => {
    const cwd = folder()
    const { said, url, end, printed } = await serving(cwd, '--engine', 'mock', '--model', 'some/model')
    expect(said).toMatch(/serving some\/model on http:\/\/127\.0\.0\.1:\d+ \(engine mock\)/)
    const health = await fetch(`${url}/api/v1/healthz`)
    expect(await health.json()).toEqual({ status: 'ok' })
    expect(await end()).toBe(130)
    expect(printed()).toBe(said)
    await expect(fetch(`${url}/api/v1/healthz`)).rejects.toThrow()
    expect(existsSync(join(cwd, '.evsys/trainer/runs'))).toBe(true)
  })

  it('serves the checkpoint of a run or of the best seed of an arm, by its name and without a key, and exports it (USE-290, USE-295)', async () => {
    const cwd = folder()
    writeExperiment(cwd)
    const ran = await runMain(['run', 'experiment.yaml', '--json'], { cwd })
    expect(ran.code, ran.stderr + ran.stdout).toBe(0)
    const { arms, runs } = JSON.parse(ran.stdout)
    const names = [`served/${arms[0].name}`, `served/${runs[1].name}`]
    const { url, said, end } = await serving(cwd, ...names.flatMap((name) => ['--model', name]))
    expect(said).toMatch(/served\/\S+: \S+ at step \d, over evsys\/nano/)
    const listed = (await (await fetch(`${url}/v1/models`)).json()) as { data: { id: string }[] }
    expect(listed.data.map(({ id }) => id)).toEqual(expect.arrayContaining([...names, 'evsys/nano']))
    for (const model of names) {
      const answer = await fetch(`${url}/v1/completions`, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({ model, prompt: 'a', max_tokens: 2, temperature: 0 }),
      })
      expect([answer.status, await answer.json()]).toMatchObject([200, { model, choices: [{ index: 0 }] }])
    }
    expect(await end()).toBe(130)

    const kept = JSON.parse((await runMain(['checkpoint', 'list', '--json'], { cwd })).stdout)
    expect(kept.checkpoints).toContainEqual(expect.objectContaining({ run: names[1], kind: 'sampler' }))
    const taken = await runMain(['checkpoint', 'export', names[0] ?? '', '-o', 'adapter', '--json'], { cwd })
    expect([taken.code, JSON.parse(taken.stdout)]).toMatchObject([
      0,
      { format: 'peft', base_model: 'evsys/nano', files: ['adapter_config.json', 'adapter_model.safetensors'] },
    ])
    const config = JSON.parse(readFileSync(join(cwd, 'adapter/adapter_config.json'), 'utf8'))
    expect(config).toMatchObject({ peft_type: 'LORA', r: 2, base_model_name_or_path: 'evsys/nano' })
    const bytes = readFileSync(join(cwd, 'adapter/adapter_model.safetensors'))
    const header = JSON.parse(bytes.subarray(8, 8 + Number(bytes.readBigUInt64LE())).toString())
    const shapes = Object.entries(header).filter(([key]) => /^base_model\.model\..+\.lora_A\.weight$/.test(key))
    expect(shapes.length).toBeGreaterThan(0)
    expect(shapes.every(([, value]) => (value as { shape: number[] }).shape[0] === 2)).toBe(true)
    expect((await runMain(['checkpoint', 'export', names[0] ?? '', '-o', 'adapter'], { cwd })).code).toBeGreaterThan(0)
    expect((await runMain(['checkpoint', 'export', 'served/none', '-o', 'x'], { cwd })).stderr).toContain('fix:')
  })

  it('refuses to let everybody in, and names that lead nowhere (TRN-1)', async () => {
    const open = await runMain(['serve', '--host', '0.0.0.0', '--engine', 'mock', '--port', '0'], { cwd: folder() })
    expect([open.code, open.stderr]).toEqual([2, expect.stringContaining('EVSYS_SERVE_KEYS')])
    const missing = await runMain(['serve', '--model', './nothing', '--port', '0'], { cwd: folder() })
    expect(missing.stderr).toContain('MODEL_MISSING')
    expect(missing.code).toBeGreaterThan(0)
    expect((await runMain(['serve', '--port', '70000'])).code).toBe(2)
    const quota = await runMain(['serve', '--quota', 'cats=3'])
    expect([quota.code, quota.stderr]).toEqual([2, expect.stringContaining('gigabytes')])
  })
})

function writeExperiment(cwd: string): void {
  const rows = Array.from({ length: 4 }, (_, index) => ({ prompt: `a${index}`, completion: 'b' }))
  writeFileSync(join(cwd, 'rows.jsonl'), rows.map((row) => JSON.stringify(row)).join('\n'))
  writeFileSync(
    join(cwd, 'experiment.yaml'),
    `version: 1
name: served
metadata: { hypothesis: It can be served. }
base_seed: 0
n_repeats: 2
run:
  name: base
  data: { source_kind: jsonl, path: rows.jsonl, transforms: [{ kind: jsonl_to_chat, params: { user_template: "{prompt}", assistant_template: "{completion}" } }] }
  model: { name: evsys/nano }
  algorithm: { kind: sft, params: { max_steps: 2, batch_size: 2, lora_rank: 2 } }
  backend: { kind: local }
`,
  )
}
