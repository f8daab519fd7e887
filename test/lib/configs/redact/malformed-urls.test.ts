import { describe, expect, it } from 'vitest'
import { diffConfigs } from '../../../../lib/configs/diff/diff.ts'
import { cleanEndpoint } from '../../../../lib/configs/migrate/endpoint.ts'
import { redactString, redactText, redactUrl, redactValue } from '../../../../lib/configs/redact/redact.ts'
import { readProxySettings } from '../../../../lib/outbound/proxy.ts'
import { readServers } from '../../../../lib/store/dsn.ts'
import { readConfig } from '../../../../runtime/config.ts'

// Credentials in URLs that nobody has encoded: a mark that ends a host stands in them. Whoever reads a URL as a browser
// does takes their beginning for a host and shows it. Generated: each secret, in each place, before each host.
const HALVES = ['h4lf0ne', 'h4lftw0'] as const
const MARKS = ['/', '//', '?', '#', '/x/', '+/', '%2F/', '/?', '\\']
const HOSTS = ['host', 'host:4318', 'host.example.com', '10.0.0.7:443', '[::1]:4317', '${env:HOST}']
const PLACES: readonly ((secret: string) => string)[] = [
  (secret) => secret,
  (secret) => `user:${secret}`,
  (secret) => `:${secret}`,
  (secret) => `${secret}:x`,
  (secret) => `us@er:${secret}`,
]
const SCHEMES = ['https', 'http', 'postgres', 'redis']
const URLS = SCHEMES.flatMap((scheme) =>
  MARKS.flatMap((mark) =>
    PLACES.flatMap((place) =>
      HOSTS.map((host) => ({ url: `${scheme}://${place(HALVES.join(mark))}@${host}/v1`, host })),
    ),
  ),
)

const leak = (text: string) => HALVES.filter((half) => text.includes(half))
const leaksOf = (show: (url: string) => string) =>
  URLS.flatMap(({ url }) => (leak(show(url)).length === 0 ? [] : [`${url} -> ${show(url)}`]))

// What browsers, proxies and drivers read as the beginning of a URL all the same.
const BEGINNINGS = [
  ...[
    'https:///',
    'https:/',
    'https:',
    'https:\\\\',
    'https:\\',
    'https:/\\',
    'https://///',
    'HTTPS:/',
    'postgres:/',
    'redis:///',
  ],
  ...['//', '///', '\\\\', '/\\', '\\/'],
]
const ODD_URLS = BEGINNINGS.flatMap((beginning) =>
  ['', ...MARKS].flatMap((mark) =>
    PLACES.flatMap((place) => HOSTS.map((host) => `${beginning}${place(HALVES.join(mark))}@${host}/v1`)),
  ),
)
/** A name and a password before a host, as what dials without a scheme takes them. */
const BARE = ['/', '//', '/x/', '+/', '\\'].flatMap((mark) =>
  ['user:', 'us.er:', ':', 'dsn=user:'].flatMap((user) =>
    HOSTS.map((host) => `${user}${HALVES.join(mark)}@${host}/v1`),
  ),
)
const SPELT = [...ODD_URLS, ...BARE, ...ODD_URLS.map((url) => ` ${url}`)]
/** What a browser removes from an address before it reads it; a text ends a word there. */
const BROKEN = ['\t', '\n', '\r'].flatMap((mark) =>
  [`ht${mark}tps://`, `https:${mark}/`, `https:/${mark}/`, `${mark}https://`].map(
    (beginning) => `${beginning}user:h4lf0ne${mark}h4lftw0@host`,
  ),
)

const SHOWN: Record<string, (url: string) => string> = {
  'an address of a config': (url) => JSON.stringify(redactValue({ endpoint: url })),
  'a word of a config': redactString,
  'a URL': redactUrl,
  'a URL that was shown before': (url) => redactString(redactUrl(url)),
  'an error of an agent': (url) => redactText(`dial ${url} failed: EOF`),
  'an error with the URL in quotes': (url) => redactText(`Post "${url}": EOF`),
  'an endpoint of another vendor': (url) => JSON.stringify(cleanEndpoint(url, 'x')),
}

describe('a URL with credentials that were not encoded', () => {
  it.each(Object.entries(SHOWN))('is not shown with them as %s', (_, show) => {
    expect(leaksOf(show)).toEqual([])
  })

  it.each(Object.entries(SHOWN))(
    'is not shown with them as %s, however its beginning is spelt',
    (_, show) => {
      expect(
        SPELT.filter((url) => leak(show(url)).length > 0).map((url) => `${url} -> ${show(url)}`),
      ).toEqual([])
    },
  )

  it('is not shown with them in a value where a browser passes over what breaks it', () => {
    expect(BROKEN.filter((url) => leak(redactString(url)).length > 0)).toEqual([])
  })

  it('is not shown with them among the endpoints of a comparison', () => {
    const urls = [
      ...URLS.map(({ url }) => url),
      ...SPELT,
      'user:12/h4lf0ne@host',
      'https://h4lf0ne.tok/x@host',
    ]
    const exporters = urls.map((url, at) => [`otlp/${at}`, { endpoint: url }] as const)
    for (let at = 0; at < exporters.length; at += 1_000) {
      const targetText = JSON.stringify({ exporters: Object.fromEntries(exporters.slice(at, at + 1_000)) })
      const { endpoints } = diffConfigs({ baseText: 'exporters: {}', targetText, workload: null, peers: [] })
      expect(endpoints.length).toBeGreaterThan(0)
      const shown = endpoints.map((one) => JSON.stringify(one.after))
      expect(shown.filter((one) => leak(one).length > 0)).toEqual([])
    }
  })

  it('is not shown with the beginning of a token that has a dot in it', () => {
    for (const beginning of ['https://', 'https:/', '//'])
      for (const show of [redactUrl, redactString, (url: string) => redactText(`dial ${url} failed`)])
        expect(show(`${beginning}my.tok/en@host`)).not.toMatch(/my|tok|en@/)
  })

  it('says nevertheless where data goes', () => {
    for (const { url, host } of URLS.filter((one) => !one.url.includes('#') && !one.url.includes('?')))
      expect(redactUrl(url), url).toContain(host)
  })

  it('is no way to show another host than the one that is meant', () => {
    for (const url of ['https://evil.example.com/x@good.example.com', 'https://evil/x@good.example.com'])
      expect(redactUrl(url)).not.toBe('https://good.example.com')
    expect(redactUrl('https://evil.example.com/x@good.example.com/v1')).toContain('evil.example.com')
  })

  it('is told from a path with an @ in it, whose host is one', () => {
    for (const url of [
      'https://cdn.example.com/package@1.2.3/index.js',
      'https://cdn.example.com/package@1.2.3-beta.1',
      'https://social.example.com/@somebody',
      'http://loki:3100/api/@me',
      'http://localhost/a@b',
      'https://[::1]/a@b',
      'https://h.example.com/x?mail=a@b.example.com',
    ])
      expect(redactUrl(url), url).toBe(url)
  })
})

describe('a setting with such a URL', () => {
  const env = { JWT_SECRET: 'x'.repeat(32), DB_DSN: 'postgres://db/muster' }
  const SETTINGS = [
    'WEBHOOK_URL',
    'HTTP_PROXY',
    'HTTPS_PROXY',
    'DB_DSN',
    'OIDC_ISSUER',
    'MUSTER_PUBLIC_URL',
    'MUSTER_OPAMP_PUBLIC_URL',
    'CORS_ORIGINS',
    'MUSTER_TRUSTED_PROXIES',
  ]

  it.each(SETTINGS)('%s is refused without repeating it', (name) => {
    const found = URLS.flatMap(({ url }) => {
      const others = name === 'OIDC_ISSUER' ? { OIDC_CLIENT_ID: 'muster' } : {}
      const read = readConfig({
        ...env,
        ...others,
        MUSTER_PUBLIC_URL: 'https://muster.example.com',
        [name]: url,
      })
      return !read.ok && leak(JSON.stringify(read)).length > 0 ? [JSON.stringify(read)] : []
    })
    expect(found).toEqual([])
  })

  it('is no issuer and no address of this service, whose URLs everybody is shown', () => {
    for (const name of ['OIDC_ISSUER', 'MUSTER_PUBLIC_URL', 'MUSTER_OPAMP_PUBLIC_URL']) {
      const taken = URLS.flatMap(({ url }) => {
        const written = name === 'MUSTER_OPAMP_PUBLIC_URL' ? url.replace('https:', 'wss:') : url
        const read = readConfig({
          ...env,
          MUSTER_PUBLIC_URL: 'https://muster.example.com',
          OIDC_CLIENT_ID: 'muster',
          OIDC_CLIENT_SECRET: 'x',
          OIDC_ISSUER: 'https://id.example.com',
          [name]: written,
        })
        return read.ok ? [written] : []
      })
      expect(taken, name).toEqual([])
    }
  })

  it('names no part of a password as the host of a proxy', () => {
    const hosts = URLS.flatMap(({ url }) => {
      const read = readProxySettings({ http: url, https: url, noProxy: '' })
      return read.ok ? leak(JSON.stringify({ ...read.settings.forHttps, authorization: null })) : []
    })
    expect(hosts).toEqual([])
  })

  it('names no part of a password in what is said of a connection string', () => {
    const said = URLS.flatMap(({ url }) => {
      try {
        readServers(url)
        return []
      } catch (error) {
        return leak(String(error))
      }
    })
    expect(said).toEqual([])
  })
})
