// The space of the recorded surface: ten knobs of an experiment file, mixed in kind, and what an experiment says where they are turned.

/** Every knob with its values; numbers lie in order, words not. */
export const axes = [
  { name: 'learning_rate', values: [0.00025, 0.0005, 0.001, 0.002, 0.004, 0.008, 0.016, 0.032] },
  { name: 'lora_rank', values: [2, 8, 32] },
  { name: 'batch_size', values: [4, 8, 16] },
  { name: 'lr_schedule', values: ['constant', 'linear_decay', 'cosine_with_warmup'] },
  { name: 'grad_clip_norm', values: [0.1, 0.5, 2.5] },
  { name: 'template', values: ['bare', 'label', 'question', 'letter'] },
  { name: 'dedupe', values: ['off', 'on'] },
  { name: 'cap', values: [10, 20, 40, 80] },
  { name: 'row_order', values: ['shuffled', 'short first', 'long first'] },
  { name: 'form_share', values: [0.2, 0.4, 0.6, 0.8] },
]

/** Steps of a training, and those after which it is scored: its fidelities. */
export const steps = { all: 40, every: 20 }

const templates = {
  bare: '{text}',
  label: 'Ticket: {text}',
  question: '{text} Which desk?',
  letter:
    'Dear colleagues, a customer wrote us this, and I do not know where to put it: {text}. Please say which desk it is for.',
}

/**
 * A run of an experiment at a point of the space.
 * @param {Record<string, string | number>} knobs
 * @param {string} name
 */
export function runAt(knobs, name) {
  const isGiven = knobs.row_order !== 'shuffled'
  const order = knobs.row_order === 'short first' ? 'ascending' : 'descending'
  const share = Number(knobs.form_share)
  return {
    name,
    data: {
      path: 'data/train.jsonl',
      transforms: [
        ...(knobs.dedupe === 'on' ? [{ kind: 'dedupe', params: { key: 'text' } }] : []),
        { kind: 'cap', params: { key: 'desk', most: knobs.cap } },
        { kind: 'mix', params: { key: 'source', weights: { form: share, mail: Number((1 - share).toFixed(2)) } } },
        ...(isGiven ? [{ kind: 'sort', params: { by: 'text', measure: 'length', order } }] : []),
        {
          kind: 'jsonl_to_chat',
          params: {
            user_template: templates[/** @type {keyof typeof templates} */ (knobs.template)],
            assistant_template: '{desk}',
          },
        },
      ],
    },
    model: { name: 'evsys/nano' },
    algorithm: {
      kind: 'sft',
      params: {
        max_steps: steps.all,
        batch_size: knobs.batch_size,
        learning_rate: knobs.learning_rate,
        lora_rank: knobs.lora_rank,
        lr_schedule: knobs.lr_schedule,
        ...(knobs.lr_schedule === 'cosine_with_warmup' ? { lr_warmup_steps: 6 } : {}),
        grad_clip_norm: knobs.grad_clip_norm,
        row_order: isGiven ? 'given' : 'shuffled',
        save_at_fractions: [1],
      },
    },
    backend: { kind: 'local' },
  }
}
