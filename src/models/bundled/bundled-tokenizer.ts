// tokenizer.json of a bundled model: byte-level BPE, learned from the source text.
import { byteCharacters } from '../tokenizer/token-bytes.ts'
import { type BundledShape, bundledTokens } from './bundled-models.ts'
import { type Merge, trainBpe } from './train-bpe.ts'

// Words with the space before them, single digits, runs of other signs, line ends, spaces.
const pattern = String.raw`(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+`
const jsPattern =
  /'(?:[sStTmMdD]|[rR][eE]|[vV][eE]|[lL][lL])|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+/gu

/** The tokenizer of a vocabulary of this size. */
export function bundledTokenizer({ vocabSize }: Pick<BundledShape, 'vocabSize'>, text: string): object {
  const bytes = byteCharacters()
  const numMerges = vocabSize - bytes.length - bundledTokens.length
  const merges = trainBpe(countWords(text, bytes), numMerges)
  if (merges.length < numMerges) throw new RangeError(`the text gives ${merges.length} merges, not ${numMerges}`)
  return tokenizerFile(bytes, merges)
}

function tokenizerFile(bytes: readonly string[], merges: readonly Merge[]): object {
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

function countWords(text: string, bytes: readonly string[]): Map<string, number> {
  const counts = new Map<string, number>()
  for (const [word] of text.matchAll(jsPattern)) {
    const written = Array.from(Buffer.from(word, 'utf8'), (byte) => bytes[byte]).join('')
    counts.set(written, (counts.get(written) ?? 0) + 1)
  }
  return counts
}
