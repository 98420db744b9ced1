// What a downloaded checkpoint holds when its engine has no form of its own for other programs.
import type { RunRecord } from '../state/run-record.ts'
import type { ArchiveFile } from './tar-file.ts'

/** Turns the weights that an engine exported into files that other programs read. */
export type ArchiveFiles = (bytes: Uint8Array, run: RunRecord) => Promise<readonly ArchiveFile[]>

/** The engine's bytes as they are, beside a description in the words of PEFT. */
export const plainFiles: ArchiveFiles = async (bytes, { base_model, lora }) => {
  const description =
    lora === undefined
      ? { base_model_name_or_path: base_model }
      : {
          peft_type: 'LORA',
          task_type: 'CAUSAL_LM',
          base_model_name_or_path: base_model,
          r: lora.rank,
          lora_alpha: 32,
          lora_dropout: 0,
          bias: 'none',
        }
  return [
    {
      name: lora === undefined ? 'config.json' : 'adapter_config.json',
      bytes: Buffer.from(JSON.stringify(description)),
    },
    { name: 'checkpoint.bin', bytes },
  ]
}
