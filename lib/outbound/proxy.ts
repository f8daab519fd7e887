import { BlockList, isIP } from 'node:net'
import { parseUrl } from '../model/parse-url.ts'

/** A proxy on the way out. */
export interface OutboundProxy {
  host: string
  port: number
  /** Whether the proxy itself is spoken to over TLS. */
  isTls: boolean
  /**
   * The whole value of the Proxy-Authorization header, from the user and password in the proxy's URL; null without
   * them.
   */
  authorization: string | null
}

/** What `HTTP_PROXY`, `HTTPS_PROXY` and `NO_PROXY` say. */
export interface ProxySettings {
  forHttp: OutboundProxy | null
  forHttps: OutboundProxy | null
  isExempt(url: URL): boolean
}

/** No proxy for anything. */
export const DIRECT: ProxySettings = { forHttp: null, forHttps: null, isExempt: () => false }

/** Hosts and networks that a proxy is not used for. */
interface Exemption {
  /** Empty for any port. */
  port: string
  matches(host: string): boolean
}

/**
 * Read the values of the three settings; an empty one means no proxy or no exemption. An error names the setting and
 * not its value, which may hold a password.
 */
export function readProxySettings(values: {
  http: string
  https: string
  noProxy: string
}): { ok: true; settings: ProxySettings } | { ok: false; error: string } {
  const forHttp = readProxy(values.http)
  if (forHttp === 'unusable') return { ok: false, error: unusable('HTTP_PROXY') }
  const forHttps = readProxy(values.https)
  if (forHttps === 'unusable') return { ok: false, error: unusable('HTTPS_PROXY') }
  const exemptions = values.noProxy
    .split(/[\s,]+/)
    .filter((entry) => entry !== '')
    .map(readExemption)
  const isExempt = (url: URL) => {
    const host = bareHost(url)
    const port = url.port || (url.protocol === 'http:' ? '80' : '443')
    return exemptions.some((one) => (one.port === '' || one.port === port) && one.matches(host))
  }
  return { ok: true, settings: { forHttp, forHttps, isExempt } }
}

/** The proxy that a call to this URL goes through; null for none. */
export function proxyFor(settings: ProxySettings, url: URL): OutboundProxy | null {
  const proxy = url.protocol === 'http:' ? settings.forHttp : settings.forHttps
  return proxy === null || settings.isExempt(url) ? null : proxy
}

const unusable = (name: string) => `${name} must be a URL such as http://proxy.example.com:3128`

function bareHost(url: URL): string {
  return url.hostname
    .replace(/^\[(.*)\]$/, '$1')
    .replace(/\.$/, '')
    .toLowerCase()
}

function readProxy(value: string): OutboundProxy | null | 'unusable' {
  const text = value.trim()
  if (text === '') return null
  const written = text.includes('://') ? text : `http://${text}`
  const url = parseUrl(written)
  if (url === null) return 'unusable'
  if ((url.protocol !== 'http:' && url.protocol !== 'https:') || url.hostname === '') return 'unusable'
  // A password that was not encoded: what stands before its slash would be taken for the proxy's name, and told.
  if (`${url.pathname}${url.search}${url.hash}`.includes('@')) return 'unusable'
  const isTls = url.protocol === 'https:'
  const port = url.port === '' ? (isTls ? 443 : 80) : Number(url.port)
  return { host: bareHost(url), port, isTls, authorization: readAuthorization(url) }
}

function readAuthorization({ username, password }: URL): string | null {
  if (username === '' && password === '') return null
  const decode = (part: string) => {
    try {
      return decodeURIComponent(part)
    } catch {
      return part
    }
  }
  return `Basic ${Buffer.from(`${decode(username)}:${decode(password)}`).toString('base64')}`
}

function readExemption(entry: string): Exemption {
  if (entry === '*') return { port: '', matches: () => true }
  const network = readNetwork(entry)
  if (network !== null) return { port: '', matches: network }
  const [, bracketed, plain, port = ''] = /^(?:\[(.+)\]|(.+?))(?::(\d+))?$/.exec(entry) ?? []
  const address = isIP(entry) !== 0 ? entry : (bracketed ?? plain ?? entry)
  if (isIP(address) !== 0) {
    const one = readNetwork(`${address}/${isIP(address) === 4 ? 32 : 128}`)
    return { port: isIP(entry) !== 0 ? '' : port, matches: one ?? (() => false) }
  }
  // A name stands for itself and its subdomains, with a leading dot or without.
  const name = address.toLowerCase().replace(/^\*?\./, '')
  return { port, matches: (host) => host === name || host.endsWith(`.${name}`) }
}

function readNetwork(entry: string): ((host: string) => boolean) | null {
  const [, address = '', bits = ''] = /^([0-9a-f.:]+)\/(\d{1,3})$/i.exec(entry) ?? []
  const family = isIP(address)
  if (family === 0 || Number(bits) > (family === 4 ? 32 : 128)) return null
  const list = new BlockList()
  list.addSubnet(address, Number(bits), family === 4 ? 'ipv4' : 'ipv6')
  return (host) => isIP(host) !== 0 && list.check(host, isIP(host) === 4 ? 'ipv4' : 'ipv6')
}
