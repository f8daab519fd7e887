import { promisify } from 'node:util'
import { createGunzip, gzip, gzipSync } from 'node:zlib'
import type { ByteBudget } from '../../lib/byte-budget.ts'

/** An inflated body, or why there is none. */
export type Inflated =
  | { ok: true; body: Uint8Array }
  | { ok: false; code: 'busy' | 'malformed' | 'too-large' }

/** What inflates to no more than this may take the last of the budget: a poll that is not its agent's first. */
const SHORT_BYTES_MAX = 65_536
/** The part of the budget that longer ones leave to such polls, to those that come as they are, and to sockets. */
const LEFT_BY_LONG = 1 / 4

/**
 * Inflate a gzip body piece by piece: never more than `bytesMax` in total, and never more than the budget has left
 * while it grows, of which a long one leaves a part. Node inflates further members as well, and takes any other bytes than zeros behind them for
 * malformed.
 */
export function inflate(body: Uint8Array, bytesMax: number, budget: ByteBudget): Promise<Inflated> {
  return new Promise((resolve) => {
    const gunzip = createGunzip()
    const pieces: Uint8Array[] = []
    let length = 0
    const settle = (result: Inflated) => {
      budget.give(length)
      length = 0
      gunzip.destroy()
      resolve(result)
    }
    const hasRoom = (bytes: number) =>
      length + bytes <= SHORT_BYTES_MAX || budget.free() - bytes >= budget.bytesMax * LEFT_BY_LONG
    gunzip.on('data', (piece: Uint8Array) => {
      if (gunzip.destroyed) return
      if (length + piece.length > bytesMax) return settle({ ok: false, code: 'too-large' })
      if (!hasRoom(piece.length) || !budget.take(piece.length)) return settle({ ok: false, code: 'busy' })
      length += piece.length
      pieces.push(piece)
    })
    gunzip.on('error', () => settle({ ok: false, code: 'malformed' }))
    gunzip.on('end', () => settle({ ok: true, body: Buffer.concat(pieces) }))
    gunzip.end(body)
  })
}

/** Answers up to this size are compressed at once; larger ones off the event loop. */
const INLINE_BYTES_MAX = 16_384
const gzipAsync = promisify(gzip)

/** Compress an answer. Small windows: most answers are twenty bytes, and 256 KB of tables would be set up for each. */
export async function deflate(body: Uint8Array): Promise<Uint8Array> {
  if (body.length > INLINE_BYTES_MAX) return gzipAsync(body)
  return gzipSync(body, { windowBits: 9, memLevel: 1 })
}

/** Whether an Accept-Encoding header asks for gzip: by name or by `*`, with a quality above 0. */
export function asksForGzip(acceptEncoding: string): boolean {
  let ofStar = false
  for (const part of acceptEncoding.toLowerCase().split(',')) {
    const [coding, ...parameters] = part.split(';').map((piece) => piece.trim())
    const quality = parameters.find((parameter) => parameter.startsWith('q='))
    const isAccepted = quality === undefined || Number(quality.slice(2)) > 0
    if (coding === 'gzip') return isAccepted
    if (coding === '*') ofStar = isAccepted
  }
  return ofStar
}
