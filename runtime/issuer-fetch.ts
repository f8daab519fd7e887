import { request } from 'node:https'
import { isIP } from 'node:net'
import { connect as connectTls } from 'node:tls'
import type { IssuerFetch } from '../lib/identity/oidc/provider.ts'
import { type OutboundProxy, type ProxySettings, proxyFor } from '../lib/outbound/proxy.ts'
import { openTunnel } from '../lib/outbound/tunnel.ts'
import { isLoopback } from './listen-address.ts'

/** Of the answer as it is read, unpacked where the provider packed it. */
const ANSWER_BYTES_MAX = 4_194_304

/**
 * Make the fetch that calls the identity provider: directly, or through the proxy of the settings. Also for the
 * addresses that the provider's metadata names it allows https, and plain http on this machine only. A proxy is told
 * the provider's host name, as names outside are often known to the proxy alone; this machine is never called through
 * it. `trustedCertificates` replace the authorities that are trusted behind a proxy.
 */
export function createIssuerFetch(proxies: ProxySettings, trustedCertificates?: string): IssuerFetch {
  return async (address, init) => {
    const url = new URL(address)
    const isLocal = isLoopback(url.hostname)
    if (url.protocol !== 'https:' && !(url.protocol === 'http:' && isLocal))
      throw new Error(`Cannot call the identity provider at "${url.origin}": it must be https`)
    const proxy = isLocal ? null : proxyFor(proxies, url)
    try {
      return proxy === null
        ? await fetchDirectly(url, init)
        : await fetchThrough(proxy, new Request(url, init), trustedCertificates)
    } catch (error) {
      if (init.signal?.aborted) throw init.signal.reason
      if (error instanceof TypeError && error.message === 'fetch failed') throw error
      // The error that `fetch` throws when no answer comes.
      throw new TypeError('fetch failed', { cause: error })
    }
  }
}

/** Ask without a proxy. The answer is read here, so that no more of it is unpacked than anybody needs. */
async function fetchDirectly(url: URL, init: RequestInit): Promise<Response> {
  const answer = await fetch(url, init)
  if (answer.body === null) return answer
  const chunks: Uint8Array[] = []
  let size = 0
  // Leaving the loop ends the connection.
  for await (const chunk of answer.body) {
    size += chunk.byteLength
    if (size > ANSWER_BYTES_MAX) throw new Error('the answer is too long')
    chunks.push(chunk)
  }
  return new Response(Buffer.concat(chunks), { status: answer.status, headers: answer.headers })
}

async function fetchThrough(proxy: OutboundProxy, asked: Request, ca?: string): Promise<Response> {
  const url = new URL(asked.url)
  const host = url.hostname.replace(/^\[(.*)\]$/, '$1')
  const body = Buffer.from(await asked.arrayBuffer())
  const port = url.port === '' ? 443 : Number(url.port)
  const tunnel = await openTunnel(proxy, { host, port }, asked.signal)
  const servername = isIP(host) === 0 ? host : ''
  const headers = { ...Object.fromEntries(asked.headers), 'content-length': String(body.byteLength) }
  try {
    return await new Promise<Response>((resolve, reject) => {
      const sent = request(url, {
        method: asked.method,
        headers,
        signal: asked.signal,
        createConnection: () =>
          connectTls({
            socket: tunnel,
            host,
            servername,
            ALPNProtocols: ['http/1.1'],
            ...(ca === undefined ? {} : { ca }),
          }),
      })
      sent.on('error', reject)
      sent.on('response', (response) => {
        const chunks: Buffer[] = []
        let size = 0
        response.on('error', reject)
        response.on('data', (chunk: Buffer) => {
          size += chunk.byteLength
          if (size > ANSWER_BYTES_MAX) sent.destroy(new Error('the answer is too long'))
          else chunks.push(chunk)
        })
        response.on('end', () => {
          // `toResponse` throws where the answer is not valid, and an exception in this callback would reach nobody
          // else.
          try {
            resolve(toResponse(response.statusCode ?? 0, response.headers, chunks))
          } catch (error) {
            reject(error)
          }
        })
      })
      sent.end(body)
    })
  } finally {
    tunnel.destroy()
  }
}

function toResponse(
  status: number,
  headers: Readonly<Record<string, string | string[] | undefined>>,
  chunks: readonly Buffer[],
): Response {
  const told = Object.entries(headers).flatMap(([name, value]) =>
    [value ?? []].flat().map((one): [string, string] => [name, one]),
  )
  const hasNone = status === 204 || status === 205 || status === 304
  return new Response(hasNone ? null : Buffer.concat(chunks), { status, headers: told })
}
