// Quantities as people read them, for commands.
export {
  bytesText,
  countText,
  durationText,
  numberText,
  rangeText,
  signedText,
  speedText,
  usdText,
} from '../../kernel/index.ts'
