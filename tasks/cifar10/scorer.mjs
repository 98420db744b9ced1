import { imageScorer } from '../shared/image-scorer.mjs'

export default imageScorer({ imageBytes: 3072, worst: 'worst_class_error' })
