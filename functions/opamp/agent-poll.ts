import type { OpampContext } from '../../runtime/context.ts'
import { defineOpampPost } from '../../runtime/define.ts'
import { bytes, type Reply, text } from '../../runtime/reply.ts'
import { isFromBrowser, NO_BROWSERS } from './_browser-origin.ts'
import { asksForGzip, deflate, inflate } from './_content-coding.ts'
import { CHALLENGE, holdsSharedSecret } from './_shared-secret.ts'

const CONTENT_TYPE = 'application/x-protobuf'

/**
 * Agents over HTTP polling. What is wrong with the request has a status; what is wrong with the message is
 * told in the answer, which clients survive better than a status.
 */
export default defineOpampPost({
  path: '/v1/opamp',
  bodyBytesMax: (ctx) => ctx.config.opampMessageBytesMax,
  refuse({ header }, ctx) {
    if (isFromBrowser(header)) return NO_BROWSERS
    if (!holdsSharedSecret(header('authorization'), ctx.config.opampSharedSecret)) {
      return { status: 401, headers: CHALLENGE, body: '' }
    }
    const mediaType = header('content-type').split(';')[0]!.trim().toLowerCase()
    if (mediaType !== CONTENT_TYPE) return text(`Expected the content type ${CONTENT_TYPE}\n`, 415)
    const coding = header('content-encoding').trim().toLowerCase()
    if (coding !== '' && coding !== 'identity' && coding !== 'gzip') {
      return text('Expected the content encoding gzip or none\n', 415, { 'Accept-Encoding': 'gzip' })
    }
    return ctx.opamp.isOverloaded() ? busy(ctx) : null
  },
  async handle({ header, remoteAddress, body }, ctx) {
    if (body === 'too-large') return tooLarge(ctx)
    if (body === 'over-budget') return busy(ctx)
    let message = body
    if (header('content-encoding').trim().toLowerCase() === 'gzip') {
      const inflated = await inflate(body, ctx.config.opampMessageBytesMax, ctx.opamp.decoding)
      if (!inflated.ok) return refuseInflated(inflated.code, ctx)
      message = inflated.body
    }
    const answer = await ctx.opamp.answerBody(message, remoteAddress)
    // The content type is compared as a string by one client: no parameters, ever.
    if (!asksForGzip(header('accept-encoding'))) return bytes(answer, CONTENT_TYPE)
    return bytes(await deflate(answer), CONTENT_TYPE, { 'Content-Encoding': 'gzip' })
  },
})

function refuseInflated(code: 'busy' | 'malformed' | 'too-large', ctx: OpampContext): Reply {
  if (code === 'busy') return busy(ctx)
  return code === 'too-large' ? tooLarge(ctx) : text('Cannot inflate the body: it is not gzip\n', 400)
}

const tooLarge = (ctx: OpampContext): Reply =>
  text(`Expected at most ${ctx.config.opampMessageBytesMax} bytes, inflated\n`, 413)

const busy = (ctx: OpampContext): Reply =>
  text('The server is busy\n', 503, { 'Retry-After': String(ctx.opamp.retryAfterMs / 1000) })
