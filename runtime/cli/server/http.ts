import { readFileSync } from 'node:fs'
import { type ClientRequest, request as requestPlain } from 'node:http'
import { request as requestTls } from 'node:https'
import { isIP } from 'node:net'
import { connect as connectTls, rootCertificates } from 'node:tls'
import { parseUrl } from '../../../lib/model/parse-url.ts'
import { proxyFor, readProxySettings } from '../../../lib/outbound/proxy.ts'
import { openTunnel, TunnelFailure } from '../../../lib/outbound/tunnel.ts'
import type { Environment } from '../../config.ts'
import { isLoopback } from '../../listen-address.ts'
import { VERSION } from '../../version.ts'
import { withoutSlashes } from '../../without-slashes.ts'
import { CommandFailure, NoAnswer, WrongArguments } from '../exit-codes.ts'

const TIMEOUT_MS = 60_000
const ANSWER_BYTES_MAX = 268_435_456

/** How a service answered. */
export interface Answer {
  status: number
  text: string
  /** The permission that the caller lacks, where the service names one; empty otherwise. */
  lacking: string
}

/**
 * The URL of a service without a slash at its end. Plain HTTP is for this machine only, since a token travels with
 * each call. Throws WrongArguments.
 */
export function readServiceUrl(given: string): string {
  const wanted = 'the URL of the service must be as https://muster.example.com'
  const url = parseUrl(given)
  if (url === null) throw new WrongArguments(wanted)
  if (url.protocol !== 'https:' && url.protocol !== 'http:') throw new WrongArguments(wanted)
  if (url.username !== '' || url.password !== '' || url.search !== '' || url.hash !== '')
    throw new WrongArguments(`${wanted}, without a user, a query or a fragment`)
  if (url.protocol === 'http:' && !isLoopback(url.hostname))
    throw new WrongArguments('plain http is for this machine only: a token would travel unprotected')
  return `${url.origin}${withoutSlashes(url.pathname)}`
}

/**
 * A function that calls one service with one token. It throws NoAnswer where no answer comes, of a call that is waited
 * for so long at most.
 */
export function openHttp(url: string, token: string | null, env: Environment) {
  return async (
    method: string,
    path: string,
    body?: unknown,
    waitMs: number = TIMEOUT_MS,
  ): Promise<Answer> => {
    const target = new URL(`${url}${path}`)
    const ended = AbortSignal.timeout(Math.min(TIMEOUT_MS, Math.ceil(waitMs)))
    const sent = body === undefined ? null : Buffer.from(JSON.stringify(body))
    const options = {
      method,
      signal: ended,
      // A new connection for each call: the service may close a kept one just when it is used.
      agent: false as const,
      headers: {
        Accept: 'application/json',
        'User-Agent': `muster/${VERSION}`,
        ...(token === null ? {} : { Authorization: `Bearer ${token}` }),
        ...(sent === null ? {} : { 'Content-Type': 'application/json', 'Content-Length': sent.byteLength }),
      },
    }
    try {
      const call =
        target.protocol === 'http:' ? requestPlain(target, options) : await openTls(target, options, env)
      return await exchange(call, sent)
    } catch (error) {
      if (error instanceof CommandFailure) throw error
      const { code, name } = error as NodeJS.ErrnoException
      throw new NoAnswer(`${url} gave no answer (${ended.aborted ? 'timed out' : (code ?? name)})`)
    }
  }
}

async function openTls(
  target: URL,
  options: { agent: false; signal: AbortSignal },
  env: Environment,
): Promise<ClientRequest> {
  const certificates = env['MUSTER_CA_FILE']
    ? { ca: [...rootCertificates, readCertificates(env['MUSTER_CA_FILE'])] }
    : {}
  const value = (name: string) => env[name.toLowerCase()] || env[name] || ''
  const read = readProxySettings({
    http: value('HTTP_PROXY'),
    https: value('HTTPS_PROXY'),
    noProxy: value('NO_PROXY'),
  })
  if (!read.ok) throw new WrongArguments(read.error)
  const host = target.hostname.replace(/^\[(.*)\]$/, '$1')
  const proxy = isLoopback(host) ? null : proxyFor(read.settings, target)
  if (proxy === null) return requestTls(target, { ...options, ...certificates })
  const port = target.port === '' ? 443 : Number(target.port)
  const socket = await openTunnel(proxy, { host, port }, options.signal).catch((error) => {
    throw error instanceof TunnelFailure
      ? new CommandFailure(`the proxy gave no way through (${error.code})`)
      : error
  })
  const servername = isIP(host) === 0 ? host : ''
  const { agent: _, ...own } = options
  const call = requestTls(target, {
    ...own,
    createConnection: () => connectTls({ socket, host, servername, ...certificates }),
  })
  call.on('close', () => socket.destroy())
  return call
}

function readCertificates(file: string): string {
  try {
    return readFileSync(file, 'utf8')
  } catch (error) {
    throw new CommandFailure(
      `MUSTER_CA_FILE: ${file} cannot be read (${(error as NodeJS.ErrnoException).code})`,
    )
  }
}

function exchange(call: ClientRequest, body: Buffer | null): Promise<Answer> {
  return new Promise((resolve, reject) => {
    call.on('error', reject)
    call.on('response', (response) => {
      const chunks: Buffer[] = []
      let size = 0
      response.on('data', (chunk: Buffer) => {
        size += chunk.byteLength
        if (size > ANSWER_BYTES_MAX)
          call.destroy(new CommandFailure('the answer is larger than any of muster'))
        else chunks.push(chunk)
      })
      response.on('error', reject)
      response.on('end', () =>
        resolve({
          status: response.statusCode ?? 0,
          text: Buffer.concat(chunks).toString('utf8'),
          lacking: readPermission(response.headers['muster-permission']),
        }),
      )
    })
    call.end(body ?? undefined)
  })
}

/** A permission as a service names it; anything else is nothing that should be printed. */
const readPermission = (sent: string | string[] | undefined): string =>
  typeof sent === 'string' && /^[a-z_]{1,40}:[a-z_]{1,40}$/.test(sent) ? sent : ''
