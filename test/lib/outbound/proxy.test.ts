import { describe, expect, it } from 'vitest'
import { type ProxySettings, proxyFor, readProxySettings } from '../../../lib/outbound/proxy.ts'

function read(values: Partial<{ http: string; https: string; noProxy: string }>): ProxySettings {
  const result = readProxySettings({ http: '', https: '', noProxy: '', ...values })
  if (!result.ok) throw new Error(result.error)
  return result.settings
}

describe('the proxy of a call', () => {
  it('is that of the scheme', () => {
    const settings = read({ http: 'http://plain.example:3128', https: 'https://tls.example' })
    expect(proxyFor(settings, new URL('http://a.example/'))).toEqual({
      host: 'plain.example',
      port: 3128,
      isTls: false,
      authorization: null,
    })
    expect(proxyFor(settings, new URL('https://a.example/'))).toMatchObject({
      host: 'tls.example',
      port: 443,
      isTls: true,
    })
    expect(proxyFor(read({ http: 'plain.example' }), new URL('https://a.example/'))).toBeNull()
  })

  it('may be written without a scheme, with an address, and with a user', () => {
    const url = new URL('https://a.example/')
    expect(proxyFor(read({ https: 'proxy.example:8080' }), url)).toMatchObject({ port: 8080, isTls: false })
    expect(proxyFor(read({ https: 'http://[::1]:1' }), url)).toMatchObject({ host: '::1', port: 1 })
    const { authorization } = proxyFor(read({ https: 'http://us%65r:p%40ss@proxy.example' }), url)!
    expect(authorization).toBe(`Basic ${Buffer.from('user:p@ss').toString('base64')}`)
  })

  it.each(['socks5://proxy.example:1080', 'http://', 'http://a b', 'file:///tmp/x'])(
    'is refused as %j, and its text is not repeated',
    (https) => {
      expect(readProxySettings({ http: '', https, noProxy: '' })).toEqual({
        ok: false,
        error: 'HTTPS_PROXY must be a URL such as http://proxy.example.com:3128',
      })
    },
  )

  it.each([
    ['*', 'https://anything.example/', true],
    ['example.com', 'https://example.com/', true],
    ['example.com', 'https://hooks.Example.com./', true],
    ['.example.com', 'https://hooks.example.com/', true],
    ['*.example.com', 'https://hooks.example.com/', true],
    ['example.com', 'https://notexample.com/', false],
    ['example.com:8443', 'https://example.com:8443/', true],
    ['example.com:8443', 'https://example.com/', false],
    ['example.com:443', 'https://example.com/', true],
    ['other.example, 10.0.0.0/8', 'https://10.2.3.4/', true],
    ['10.0.0.0/8', 'https://11.2.3.4/', false],
    ['10.0.0.0/8', 'https://ten.example/', false],
    ['192.0.2.1', 'https://192.0.2.1:8443/', true],
    ['192.0.2.1:443', 'https://192.0.2.1:8443/', false],
    ['2001:db8::/32', 'https://[2001:db8::5]/', true],
    ['2001:db8::5', 'https://[2001:db8:0::5]/', true],
    ['[2001:db8::5]:443', 'https://[2001:db8::5]/', true],
    ['300.0.0.0/99', 'https://10.0.0.1/', false],
  ])('with NO_PROXY %j is left out for %s: %j', (noProxy, url, isExempt) => {
    const settings = read({ https: 'http://proxy.example', noProxy })
    expect(proxyFor(settings, new URL(url)) === null).toBe(isExempt)
  })
})
