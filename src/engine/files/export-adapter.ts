// A checkpoint's adapter as a folder that PEFT, vLLM and their like load.
import { join } from 'node:path'
import type { LoraSpec } from '../../contracts/index.ts'
import { writeFileAtomic } from '../../kernel/index.ts'
import { loraAlpha } from '../lora-spec.ts'
import { refused } from '../refused.ts'
import { decodeCheckpoint } from './checkpoint.ts'
import { createFolder } from './create-folder.ts'
import { targetModules } from './lora-tensors.ts'
import { writeSafetensors } from './safetensors-bytes.ts'

/** Writes `adapter_config.json` and `adapter_model.safetensors` into a new folder. Values are rounded to float32. */
export async function exportAdapter(checkpoint: Uint8Array, folder: string): Promise<void> {
  const { baseModel, lora, alpha = loraAlpha, weights } = decodeCheckpoint(checkpoint)
  if (lora === undefined) {
    throw refused('the checkpoint is of a model that was trained whole: it has no adapter', 'export it merged.')
  }
  await createFolder(folder, async (path) => {
    await writeFileAtomic(
      join(path, 'adapter_config.json'),
      `${JSON.stringify(adapterConfig(baseModel, lora, alpha), null, 2)}\n`,
    )
    await writeSafetensors(
      join(path, 'adapter_model.safetensors'),
      new Map([...weights].map(([name, tensor]) => [name, { ...tensor, dtype: 'F32' }])),
    )
  })
}

function adapterConfig(baseModel: string, lora: LoraSpec, alpha: number) {
  return {
    peft_type: 'LORA',
    task_type: 'CAUSAL_LM',
    base_model_name_or_path: baseModel,
    r: lora.rank,
    lora_alpha: alpha,
    lora_dropout: 0,
    target_modules: targetModules(lora),
    bias: 'none',
    fan_in_fan_out: false,
    init_lora_weights: true,
    inference_mode: true,
    modules_to_save: null,
    use_rslora: false,
  }
}
