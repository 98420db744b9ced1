// tokenizer.json: byte-level BPE in Hugging Face form, with the tokens of a conversation at the end of the vocabulary.
import { bundledTokens } from '../bundled-files.ts'
import type { Merge } from './train-bpe.ts'

// Words with the space before them, single digits, runs of other signs, line ends, spaces.
const pattern = String.raw`(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+`

/** The same pattern for JavaScript. */
export const wordPattern =
  /'(?:[sStTmMdD]|[rR][eE]|[vV][eE]|[lL][lL])|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+/gu

/** How many merges a vocabulary of this size has room for. */
export function numMerges(vocabSize: number): number {
  return vocabSize - 256 - bundledTokens.length
}

/** The file of a tokenizer with these characters of bytes and these merges. */
export function tokenizerFile(bytes: readonly string[], merges: readonly Merge[]): object {
  const pieces = [...bytes, ...merges.map(([left, right]) => left + right)]
  return {
    version: '1.0',
    truncation: null,
    padding: null,
    added_tokens: bundledTokens.map(({ content, special }, index) => ({
      id: pieces.length + index,
      content,
      single_word: false,
      lstrip: false,
      rstrip: false,
      normalized: false,
      special,
    })),
    normalizer: null,
    pre_tokenizer: {
      type: 'Sequence',
      pretokenizers: [
        { type: 'Split', pattern: { Regex: pattern }, behavior: 'Isolated', invert: false },
        { type: 'ByteLevel', add_prefix_space: false, trim_offsets: false, use_regex: false },
      ],
    },
    post_processor: null,
    decoder: { type: 'ByteLevel', add_prefix_space: false, trim_offsets: false, use_regex: false },
    model: {
      type: 'BPE',
      dropout: null,
      unk_token: null,
      continuing_subword_prefix: null,
      end_of_word_suffix: null,
      fuse_unk: false,
      byte_fallback: false,
      ignore_merges: false,
      vocab: Object.fromEntries(pieces.map((piece, id) => [piece, id])),
      merges,
    },
  }
}
