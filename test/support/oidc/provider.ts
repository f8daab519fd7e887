import { fork } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import type { OidcSettings } from '../../../lib/identity/oidc/settings.ts'
import { findFreePort } from '../../../runtime/quickstart/ports.ts'

/** What a test sets at the provider; see `provider-process.mjs`. */
export interface Told {
  /** The claims of the user at the browser; `sub` is required. */
  claims?: Record<string, unknown>
  /** Claims of the ID token that are replaced before it is signed again. */
  forged?: Record<string, unknown> | null
  rotate?: boolean
  /** Use the first key again. */
  key?: null
  isUnpublished?: boolean
  isDenied?: boolean
}

/** `oidc-provider` in a process of its own. */
export interface TestProvider {
  issuer: string
  /** The port that it listens on, which may be behind a front that has the issuer's address. */
  port: number
  tell(change: Told): Promise<void>
  /** Let the provider sign a token with any claims. */
  sign(claims: Record<string, unknown>, header?: Record<string, unknown>): Promise<string>
  stop(): Promise<void>
}

/** The id of the provider's one client, which muster is. */
export const CLIENT_ID = 'muster'
/** The secret of that client, with characters that have to be escaped on the way. */
export const CLIENT_SECRET = 'a secret of the client, with % and + and :'

/** Settings with which muster uses this provider. */
export const settingsFor = (
  issuer: string,
  publicUrl: string,
  more: Partial<OidcSettings> = {},
): OidcSettings => ({
  callbackUrl: `${publicUrl}/api/auth/oidc/callback`,
  issuer,
  publicUrl,
  clientId: CLIENT_ID,
  clientSecret: CLIENT_SECRET,
  clientAuth: 'basic',
  scopes: 'openid profile email groups',
  groupsClaim: 'groups',
  groupMap: null,
  name: 'Test Directory',
  sessionMs: 36_000_000,
  ...more,
})

/** Start a provider for a muster at `publicUrl`. */
export async function startProvider(
  publicUrl: string,
  options: { clockOffsetMs?: number; port?: number; issuer?: string } = {},
): Promise<TestProvider> {
  const port = options.port ?? (await findFreePort('127.0.0.1'))
  const child = fork(fileURLToPath(new URL('provider-process.mjs', import.meta.url)), {
    execArgv: [],
    env: {
      PORT: String(port),
      ISSUER: options.issuer ?? '',
      CLIENT_ID,
      CLIENT_SECRET,
      REDIRECT_URI: `${publicUrl}/api/auth/oidc/callback`,
      LOGOUT_URI: `${publicUrl}/api/auth/oidc/backchannel-logout`,
      CLOCK_OFFSET_MS: options.clockOffsetMs === undefined ? '' : String(options.clockOffsetMs),
    },
    stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
  })
  const ended = new Promise<void>((resolve) => child.once('exit', () => resolve()))
  await new Promise<void>((resolve, reject) => {
    child.once('message', () => resolve())
    child.once('exit', (code) => reject(new Error(`the provider ended with ${code}`)))
  })
  const own = `http://127.0.0.1:${port}`
  const control = async (body: object) =>
    (await fetch(`${own}/control`, { method: 'POST', body: JSON.stringify(body) })).text()
  return {
    issuer: options.issuer ?? own,
    port,
    tell: async (change) => void (await control(change)),
    sign: (claims, header) => control({ sign: claims, header }),
    async stop() {
      child.kill()
      await ended
    },
  }
}

/** A browser without pages: it follows redirects and keeps the cookies of each address. */
export function openJar() {
  const jars = new Map<string, Map<string, string>>()
  const jarOf = (url: URL) => jars.get(url.host) ?? jars.set(url.host, new Map()).get(url.host)!
  async function get(address: string, init: RequestInit = {}): Promise<Response> {
    const url = new URL(address)
    const jar = jarOf(url)
    const cookie = [...jar].map(([name, value]) => `${name}=${value}`).join('; ')
    const response = await fetch(url, { ...init, redirect: 'manual', headers: { ...init.headers, cookie } })
    for (const line of response.headers.getSetCookie()) {
      const [pair = '', ...attributes] = line.split(';')
      const [name = '', ...value] = pair.split('=')
      const isOver = attributes.some((text) => /^\s*(max-age=0|expires=Thu, 01 Jan 1970)/i.test(text))
      if (isOver) jar.delete(name)
      else jar.set(name, value.join('='))
    }
    return response
  }
  /** Follow redirects until one leads to where `stop` says, or there is none. */
  async function follow(
    address: string,
    stop: (url: URL) => boolean = () => false,
  ): Promise<{ url: URL; response: Response }> {
    let url = new URL(address)
    for (let n = 0; n < 12; n++) {
      if (stop(url)) return { url, response: new Response() }
      const response = await get(url.href)
      const location = response.headers.get('location')
      if (location === null) return { url, response }
      url = new URL(location, url)
    }
    throw new Error('too many redirects')
  }
  return { get, follow, cookie: (host: string, name: string) => jars.get(host)?.get(name) }
}
