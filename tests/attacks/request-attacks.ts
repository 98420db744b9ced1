// Attacks on the HTTP surface of a trainer that several keys share: `victim` has a session, a model, checkpoints and a sampler; `thief` is
// another key. `ask(method, path, body, { key, headers })` answers `{ status, text }`; `harm(what)` is thrown where it got through.
import type { RequestRow } from './rows.ts'

type Entry = string | { does: string; code: string; alone?: true }

function rowsOf(entries: Readonly<Record<string, Entry>>): RequestRow[] {
  return Object.entries(entries).map(([name, entry]) => {
    const { code, does = name, ...more } = typeof entry === 'string' ? { code: entry, does: name } : entry
    return { name: `request: ${name}`, does, code, ...more }
  })
}

const refused = (what: string) =>
  `const { status, text } = await ask(${what}); need(status >= 400 && status < 500, status + ' ' + text.slice(0, 100)); noPath(text)`
const asThief = (method: string, path: string, body = 'undefined') => refused(`'${method}', ${path}, ${body}`)

export const requestAttacks: readonly RequestRow[] = rowsOf({
  'without a key': refused(`'GET', 'sessions', undefined, { key: '' }`),
  'with a key that is not known': refused(`'GET', 'sessions', undefined, { key: 'tml-nobody' }`),
  'with the beginning of a key': refused(`'GET', 'sessions', undefined, { key: 'tml-vict' }`),
  'with a key and more': refused(`'GET', 'sessions', undefined, { key: 'tml-victim ' + 'x' }`),
  'with an empty bearer': refused(`'GET', 'sessions', undefined, { key: '', headers: { authorization: 'Bearer ' } }`),
  'with the role before the key': refused(`'GET', 'sessions', undefined, { key: 'owner:tml-owner' }`),
  'under a foreign host': refused(`'GET', 'sessions', undefined, { open: true, headers: { host: 'evil.example:80' } }`),
  'under a host that resolves to this machine': refused(
    `'POST', 'create_session', { tags: [], sdk_version: 'x' }, { open: true, headers: { host: '127.0.0.1.nip.io' } }`,
  ),
  'from a foreign origin': refused(
    `'POST', 'create_session', { tags: [], sdk_version: 'x' }, { open: true, headers: { origin: 'https://evil.example' } }`,
  ),
  'from the origin null': refused(
    `'POST', 'create_session', { tags: [], sdk_version: 'x' }, { open: true, headers: { origin: 'null' } }`,
  ),
  'as a cross-site fetch': refused(
    `'POST', 'create_session', { tags: [], sdk_version: 'x' }, { open: true, headers: { origin: 'https://evil.example', 'sec-fetch-site': 'cross-site', 'sec-fetch-mode': 'no-cors' } }`,
  ),
  'lists sessions of another': `const { text } = await ask('GET', 'sessions'); need(!text.includes(victim.session), 'it lists them')`,
  'lists checkpoints of another': `const { text } = await ask('GET', 'checkpoints'); need(!text.includes(victim.model), 'it lists them')`,
  'lists runs of another': `const { text } = await ask('GET', 'training_runs'); need(!text.includes(victim.model), 'it lists them')`,
  'sees a session of another': asThief('GET', `'sessions/' + victim.session`),
  'ends a session of another': asThief('POST', `'sessions/' + victim.session + '/finish'`, '{}'),
  'keeps a session of another alive': asThief('POST', `'session_heartbeat'`, '{ session_id: victim.session }'),
  'makes a model in a session of another': asThief(
    'POST',
    `'create_model'`,
    `{ session_id: victim.session, model_seq_id: 9, base_model: 'evsys/tiny' }`,
  ),
  'steps a model of another': asThief(
    'POST',
    `'optim_step'`,
    `{ model_id: victim.model, seq_id: 9, adam_params: { learning_rate: 1 } }`,
  ),
  'saves a model of another': asThief(
    'POST',
    `'save_weights'`,
    `{ model_id: victim.model, seq_id: 9, path: 'stolen' }`,
  ),
  'saves a sampler of a model of another': asThief(
    'POST',
    `'save_weights_for_sampler'`,
    `{ model_id: victim.model, seq_id: 9, path: 'stolen' }`,
  ),
  'unloads a model of another': asThief('POST', `'unload_model'`, `{ model_id: victim.model }`),
  'asks what a model of another is': asThief('POST', `'get_info'`, `{ model_id: victim.model }`),
  'samples from weights of another': asThief(
    'POST',
    `'asample'`,
    `{ model_path: victim.weights, prompt, num_samples: 1, sampling_params: { max_tokens: 2 } }`,
  ),
  'opens a sampler over weights of another': `const s = JSON.parse((await ask('POST', 'create_session', { tags: [], sdk_version: 'x' })).text).session_id; ${asThief('POST', `'create_sampling_session'`, `{ session_id: s, sampling_session_seq_id: 1, model_path: victim.weights }`)}`,
  'samples through a sampler of another': asThief(
    'POST',
    `'asample'`,
    `{ sampling_session_id: victim.sampler, seq_id: 9, prompt, num_samples: 1, sampling_params: { max_tokens: 2 } }`,
  ),
  'deletes a sampler of another': asThief('DELETE', `'samplers/' + victim.sampler`),
  'downloads a checkpoint of another': asThief('GET', `route(victim.weights) + '/archive'`),
  'deletes a checkpoint of another': asThief('DELETE', `route(victim.state)`),
  'shortens the life of a checkpoint of another': asThief('PUT', `route(victim.state) + '/ttl'`, '{ ttl_seconds: 1 }'),
  'loads a state of another': `const s = JSON.parse((await ask('POST', 'create_session', { tags: [], sdk_version: 'x' })).text).session_id; ${asThief('POST', `'load_weights'`, `{ session_id: s, model_seq_id: 1, path: victim.state, optimizer: true }`)}`,
  'waits for an answer of another': asThief('POST', `'retrieve_future'`, `{ request_id: victim.request }`),
  'cancels an answer of another': asThief('POST', `'cancel_future'`, `{ request_id: victim.request }`),
  'asks for weights of another by the OpenAI interface': asThief(
    'POST',
    `'/v1/completions'`,
    `{ model: victim.weights, prompt: 'x', max_tokens: 2 }`,
  ),
  'a checkpoint with a path for a name': refused(
    `'POST', 'save_weights', { model_id: victim.model, seq_id: 20, path: '../../../etc/x' }, { key: victim.key }`,
  ),
  'an address that leads out of the folder': refused(
    `'POST', 'asample', { model_path: 'tinker://../../etc/passwd', prompt, num_samples: 1, sampling_params: { max_tokens: 2 } }`,
  ),
  'an address with encoded dots': refused(`'GET', 'training_runs/%2e%2e%2f%2e%2e/checkpoints/weights/x/archive'`),
  'an address of a NUL and a line break': refused(
    `'POST', 'asample', { model_path: 'tinker://a\\u0000b/weights/x\\r\\ny', prompt, num_samples: 1, sampling_params: { max_tokens: 2 } }`,
  ),
  'a long address that is not ASCII': refused(
    `'POST', 'asample', { model_path: 'tinker://' + 'ü'.repeat(5000) + '/sampler_weights/x', prompt, num_samples: 1, sampling_params: { max_tokens: 2 } }`,
  ),
  'a life of 2^53-1 seconds': `await ask('PUT', route(victim.state) + '/ttl', { ttl_seconds: 2 ** 53 - 1 }, { key: victim.key }); const { status } = await ask('GET', 'checkpoints', undefined, { key: victim.key }); need(status === 200, 'listings are broken: ' + status)`,
  'a life that is no number': refused(
    `'PUT', route(victim.state) + '/ttl', { ttl_seconds: 'Infinity' }, { key: victim.key }`,
  ),
  '100,000 samples at once': refused(
    `'POST', 'asample', { base_model: 'evsys/tiny', prompt, num_samples: 100000, sampling_params: { max_tokens: 200 } }`,
  ),
  'a billion tokens': `const { status } = await ask('POST', 'asample', { base_model: 'evsys/tiny', prompt, num_samples: 1, sampling_params: { max_tokens: 1e9 } }); need(status < 500, status); await alive()`,
  'a prompt of a million tokens': `const { status } = await ask('POST', 'asample', { base_model: 'evsys/tiny', prompt: { chunks: [{ type: 'encoded_text', tokens: Array(1e6).fill(1) }] }, num_samples: 1, sampling_params: { max_tokens: 1 } }); need(status < 500, status); await alive()`,
  'tokens out of the vocabulary': `const { status } = await ask('POST', 'asample', { base_model: 'evsys/tiny', prompt: { chunks: [{ type: 'encoded_text', tokens: [1e9, -1] }] }, num_samples: 1, sampling_params: { max_tokens: 1 } }); need(status < 500, status); await alive()`,
  'a body of 300 MB': {
    does: 'sends 300 MB to a route that takes little',
    code: `const { status } = await ask('POST', 'create_session', { tags: ['x'.repeat(3e8)], sdk_version: 'x' }).catch(() => ({ status: 413 })); need(status >= 400 && status < 500, status); await alive()`,
    alone: true,
  },
  'JSON that is nested without end': refused(
    `'POST', 'create_session', undefined, { raw: '['.repeat(200000), headers: { 'content-type': 'application/json' } }`,
  ),
  'JSON with prototypes': `await ask('POST', 'create_session', undefined, { raw: '{"__proto__":{"role":"owner"},"constructor":{"prototype":{"role":"owner"}},"tags":[],"sdk_version":"x"}', headers: { 'content-type': 'application/json' } }); const { text } = await ask('GET', 'sessions'); need(!text.includes(victim.session), 'it became owner')`,
  'a bomb of zstd': {
    does: 'sends 20 KB that expand to gigabytes',
    code: `const bomb = Buffer.concat([Buffer.from([0x28,0xb5,0x2f,0xfd,0xa0,0x00,0x00,0x00,0xff]), Buffer.alloc(20000, 0)]); const { status } = await ask('POST', 'forward_backward', undefined, { raw: bomb, headers: { 'content-type': 'application/x-protobuf', 'content-encoding': 'zstd' } }); need(status >= 400 && status < 500, status); await alive()`,
  },
  'a bomb of gzip': `const { gzipSync } = node.zlib; const { status } = await ask('POST', 'create_session', undefined, { raw: gzipSync(Buffer.alloc(2e8)), headers: { 'content-type': 'application/json', 'content-encoding': 'gzip' } }); need(status >= 400 && status < 500, status); await alive()`,
  '8 MiB of empty protobuf fields': `const { status } = await ask('POST', 'forward_backward', undefined, { raw: Buffer.from('0a00'.repeat(4 * 1024 * 1024), 'hex'), headers: { 'content-type': 'application/x-protobuf' } }); need(status >= 400 && status < 500, status); await alive()`,
  'a length that lies': `await node.rawSocket('POST /api/v1/create_session HTTP/1.1\\r\\nhost: 127.0.0.1\\r\\nx-api-key: tml-thief\\r\\ncontent-type: application/json\\r\\ncontent-length: 1000000\\r\\n\\r\\n{}'); await alive()`,
  'two lengths, to smuggle a request': `const text = await node.rawSocket('POST /api/v1/create_session HTTP/1.1\\r\\nhost: 127.0.0.1\\r\\nx-api-key: tml-thief\\r\\ncontent-length: 2\\r\\ncontent-length: 40\\r\\n\\r\\n{}GET /api/v1/sessions HTTP/1.1\\r\\n\\r\\n'); need(/ 400 /.test(text.slice(0, 40)), text.slice(0, 40)); await alive()`,
  'headers of 1 MB': `const { status } = await ask('GET', 'sessions', undefined, { headers: { 'x-more': 'x'.repeat(1e6) } }).catch(() => ({ status: 431 })); need(status >= 400 && status < 500, status); await alive()`,
  'a method that is not there': refused(`'PATCH', 'sessions'`),
  '300 clients that disconnect': {
    does: 'asks for 300 long completions and leaves; then a short one is wanted',
    code: `await Promise.all(Array.from({ length: 300 }, async () => { const c = new AbortController(); setTimeout(() => c.abort(), 50); await fetch(url + '/v1/completions', { method: 'POST', signal: c.signal, headers: { 'content-type': 'application/json', 'x-api-key': 'tml-thief', authorization: 'Bearer tml-thief' }, body: JSON.stringify({ model: 'evsys/tiny', prompt: 'x', max_tokens: 400 }) }).catch(() => {}) })); const from = performance.now(); const { status } = await ask('POST', '/v1/completions', { model: 'evsys/tiny', prompt: 'x', max_tokens: 5 }, { key: 'tml-victim' }); need(status === 200, status); need(performance.now() - from < 15000, 'it took ' + Math.round(performance.now() - from) + ' ms')`,
    alone: true,
  },
  'models without end': {
    does: 'makes models until it is refused',
    code: `const s = JSON.parse((await ask('POST', 'create_session', { tags: [], sdk_version: 'x' })).text).session_id; let n = 0; for (; n < 80; n++) { const { status } = await ask('POST', 'create_model', { session_id: s, model_seq_id: n, base_model: 'evsys/tiny', lora_config: { rank: 2 } }); if (status === 429 || status === 403 || status >= 400) break } need(n < 80, 'it has 80 models'); await alive()`,
  },
  'a token of an archive that is guessed': refused(`'GET', 'archives/' + 'a'.repeat(43)`),
  'reads with a key that may only read, then trains': refused(
    `'POST', 'create_session', { tags: [], sdk_version: 'x' }, { key: 'tml-reader' }`,
  ),
})
