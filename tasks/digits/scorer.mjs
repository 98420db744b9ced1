import { imageScorer } from '../shared/image-scorer.mjs'

export default imageScorer({ imageBytes: 784, worst: 'worst_digit_error' })
