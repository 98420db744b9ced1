// The chat template of a model's folder: a file of its own, or a field of tokenizer_config.json.
import { readModelFile } from '../files/model-file.ts'
import { parseTokenizerConfig } from '../tokenizer/tokenizer-config.ts'

const limitBytes = 2 ** 20
const configLimitBytes = 16 * 2 ** 20

/** The template's text; undefined where the model has none. Of a list of templates, the default one. */
export async function readChatTemplate(folder: string): Promise<string | undefined> {
  const file = await readModelFile(folder, 'chat_template.jinja', limitBytes)
  if (file !== undefined) return file.text
  const config = await readModelFile(folder, 'tokenizer_config.json', configLimitBytes)
  const template = parseTokenizerConfig(config).chat_template ?? undefined
  if (typeof template !== 'object') return template
  return template.find(({ name }) => name === 'default')?.template
}
