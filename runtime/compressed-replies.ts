import { pipeline, Readable } from 'node:stream'
import { promisify } from 'node:util'
import { createGzip, gzip } from 'node:zlib'
import { chooseEncoding } from './encodings.ts'
import { PIECE_BYTES } from './json-stream.ts'
import type { RawRequest } from './listener.ts'
import { inPieceTurns } from './piece-turns.ts'
import type { Reply } from './reply.ts'
import { bytesOf, isWhole, sizeOf } from './reply-body.ts'

/** Answers of fewer bytes go as they are: little would be saved, and each would wait for another thread. */
const BYTES_MIN = 16_384
/**
 * Answers that are compressed at one time, each until whoever asked has read it; others go as they are meanwhile, so that
 * nobody's agents wait for lists.
 */
const AT_ONCE_MAX = 16
/** The fastest level: of a list of the fleet a tenth is left, and the threads that do it are agents' too. */
const HOW = { level: 1, chunkSize: PIECE_BYTES }

const inThread = promisify<Uint8Array, typeof HOW, Buffer>(gzip)

/** What of a request says whether its answer may be compressed, and whether somebody still waits for it. */
export type CompressedFor = Pick<RawRequest, 'method' | 'header' | 'isAborted' | 'onAborted'>

const takesGzip = ({ method, header }: CompressedFor): boolean =>
  method !== 'HEAD' && chooseEncoding(header('accept-encoding'), ['gzip', 'identity']) === 'gzip'

/** Compresses the long JSON answers of a listener, off the event loop. */
export class CompressedReplies {
  #underWay = 0

  /** The same answer, compressed where whoever asks takes that and it is worth it. */
  async of(reply: Reply, request: CompressedFor): Promise<Reply> {
    const { body, headers, status } = reply
    const isJson = status === 200 && headers['Content-Type'] === 'application/json'
    if (!isJson || body === null || (isWhole(body) && sizeOf(body) < BYTES_MIN)) return reply
    if (this.#underWay >= AT_ONCE_MAX || !takesGzip(request)) return reply
    this.#underWay++
    let isLeftToStream = false
    try {
      if (isWhole(body)) return withEncoding(reply, await inThread(bytesOf(body), HOW))
      const { start, rest, isAll } = await readStart(body)
      if (isAll) return { ...reply, body: start }
      isLeftToStream = true
      return this.#ofStream(reply, start, rest, request)
    } finally {
      if (!isLeftToStream) this.#underWay--
    }
  }

  #ofStream(
    reply: Reply,
    start: Uint8Array,
    rest: AsyncGenerator<string | Uint8Array, void>,
    request: CompressedFor,
  ): Reply {
    const pieces = (async function* () {
      try {
        yield start
        yield* rest
      } finally {
        await rest.return()
      }
    })()
    const compressed = pipeline(Readable.from(pieces), createGzip(HOW), () => {
      this.#underWay--
    })
    // Nobody reads, and ends, what is for somebody who has left.
    const end = () => compressed.destroy()
    if (request.isAborted()) end()
    else request.onAborted(end)
    return withEncoding(reply, compressed)
  }
}

const withEncoding = (reply: Reply, body: Reply['body']): Reply => ({
  ...reply,
  // The listener's own `Vary: Origin` (runtime/cors.ts) is replaced by this one.
  headers: { ...reply.headers, 'Content-Encoding': 'gzip', Vary: 'Accept-Encoding, Origin' },
  body,
})

/** The first pieces of an answer, enough to know whether it is a long one; and how it goes on. */
async function readStart(body: AsyncIterable<string | Uint8Array>) {
  const rest = inPieceTurns(body)
  const pieces: Uint8Array[] = []
  let length = 0
  while (length < BYTES_MIN) {
    const next = await rest.next()
    if (next.done === true) return { start: Buffer.concat(pieces), rest, isAll: true }
    // A piece may be bytes that change with the next one.
    const piece = Buffer.from(bytesOf(next.value))
    pieces.push(piece)
    length += piece.length
  }
  return { start: Buffer.concat(pieces), rest, isAll: false }
}
