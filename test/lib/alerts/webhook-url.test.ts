import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { type AddressRefusal, judgeAddress } from '../../../lib/alerts/address-policy.ts'
import { checkWebhookUrl } from '../../../lib/alerts/webhook-url.ts'

/** Each entry: a hostile URL, and the reason with which it has to be refused. */
const HOSTILE: [string, string][] = [
  ['', 'invalid-url'],
  ['not a url', 'invalid-url'],
  ['hooks.example.com/x', 'invalid-url'],
  ['https://hooks.example.com:99999/', 'invalid-url'],
  ['https://hooks.example.com\\@10.0.0.1/', 'invalid-url'],
  ['https://hooks.exa\tmple.com/', 'invalid-url'],
  ['https://hooks.example.com/\r\nHost:x', 'invalid-url'],
  ['https://[::1', 'invalid-url'],
  ['https://256.1.1.1/', 'invalid-url'],
  ['http://hooks.example.com/', 'not-https'],
  ['ftp://hooks.example.com/', 'not-https'],
  ['file:///etc/passwd', 'missing-host'],
  ['javascript:alert(1)', 'not-https'],
  ['wss://hooks.example.com/', 'not-https'],
  ['https:///hooks.example.com/', 'missing-host'],
  ['https:hooks.example.com', 'missing-host'],
  ['https://?x', 'missing-host'],
  ['https://example..com/', 'missing-host'],
  ['https://localhost../', 'missing-host'],
  ['https://user@hooks.example.com/', 'has-userinfo'],
  ['https://user:pass@hooks.example.com/', 'has-userinfo'],
  ['https://:pass@hooks.example.com/', 'has-userinfo'],
  ['https://@hooks.example.com/', 'has-userinfo'],
  ['https://hooks.example.com@127.0.0.1/', 'has-userinfo'],
  ['https://localhost/', 'local-name'],
  ['https://LOCALHOST:8443/', 'local-name'],
  ['https://localhost./', 'local-name'],
  ['https://%6c%6f%63%61%6c%68%6f%73%74/', 'local-name'],
  ['https://a.localhost/', 'local-name'],
  ['https://a.localhost./', 'local-name'],
  ['https://localhost.localdomain/', 'local-name'],
  ['https://intranet/', 'local-name'],
  ['https://printer.local/', 'local-name'],
  ['https://metadata.google.internal/', 'local-name'],
  ['https://router.home.arpa/', 'local-name'],
  ['https://[fe80::1%25eth0]/', 'zone-id'],
  ['https://[2606:4700::1%eth0]/', 'zone-id'],
  ['https://127.0.0.1/', 'loopback'],
  ['https://127.0.0.1./', 'loopback'],
  ['https://127.1/', 'loopback'],
  ['https://0x7f000001/', 'loopback'],
  ['https://0x7f.0.0.1/', 'loopback'],
  ['https://0177.0.0.1/', 'loopback'],
  ['https://2130706433/', 'loopback'],
  ['https://①②⑦.0.0.1/', 'loopback'],
  ['https://127.255.255.254/', 'loopback'],
  ['https://[::1]/', 'loopback'],
  ['https://[0:0:0:0:0:0:0:1]/', 'loopback'],
  ['https://[::ffff:127.0.0.1]/', 'loopback'],
  ['https://[::ffff:7f00:1]/', 'loopback'],
  ['https://0.0.0.0/', 'unspecified'],
  ['https://0/', 'unspecified'],
  ['https://0.1.2.3/', 'unspecified'],
  ['https://[::]/', 'unspecified'],
  ['https://[::ffff:0.0.0.0]/', 'unspecified'],
  ['https://10.0.0.1/', 'private'],
  ['https://10.255.255.255/', 'private'],
  ['https://172.16.0.1/', 'private'],
  ['https://172.31.255.255/', 'private'],
  ['https://192.168.1.1/', 'private'],
  ['https://[::ffff:192.168.0.1]/', 'private'],
  ['https://[fc00::1]/', 'private'],
  ['https://[fdff::1]/', 'private'],
  ['https://[fec0::1]/', 'private'],
  ['https://169.254.0.1/', 'link-local'],
  ['https://[fe80::1]/', 'link-local'],
  ['https://[febf::1]/', 'link-local'],
  ['https://169.254.169.254/latest/meta-data/', 'metadata-service'],
  ['https://169.254.170.2/', 'metadata-service'],
  ['https://[::ffff:169.254.169.254]/', 'metadata-service'],
  ['https://[fd00:ec2::254]/', 'metadata-service'],
  ['https://168.63.129.16/', 'metadata-service'],
  ['https://100.100.100.200/', 'metadata-service'],
  ['https://192.0.0.192/', 'metadata-service'],
  ['https://100.64.0.1/', 'carrier-grade-nat'],
  ['https://100.127.255.255/', 'carrier-grade-nat'],
  ['https://192.0.0.1/', 'reserved'],
  ['https://240.0.0.1/', 'reserved'],
  ['https://255.255.255.255/', 'reserved'],
  ['https://[100::1]/', 'reserved'],
  ['https://[2001:20::1]/', 'reserved'],
  ['https://[2001:1ff::1]/', 'reserved'],
  ['https://[5f00::1]/', 'reserved'],
  ['https://[4000::1]/', 'reserved'],
  ['https://[::ffff:0:7f00:1]/', 'reserved'],
  ['https://192.0.2.1/', 'documentation'],
  ['https://198.51.100.7/', 'documentation'],
  ['https://203.0.113.9/', 'documentation'],
  ['https://[2001:db8::1]/', 'documentation'],
  ['https://[3fff::1]/', 'documentation'],
  ['https://198.18.0.1/', 'benchmark'],
  ['https://198.19.255.255/', 'benchmark'],
  ['https://[2001:2::1]/', 'benchmark'],
  ['https://224.0.0.1/', 'multicast'],
  ['https://239.255.255.255/', 'multicast'],
  ['https://[ff02::1]/', 'multicast'],
  ['https://192.88.99.1/', 'translation'],
  ['https://[::7f00:1]/', 'translation'],
  ['https://[64:ff9b::7f00:1]/', 'translation'],
  ['https://[64:ff9b:1::7f00:1]/', 'translation'],
  ['https://[2001::1]/', 'translation'],
  ['https://[2002:7f00:1::]/', 'translation'],
]

describe('checkWebhookUrl', () => {
  it.each(HOSTILE)('refuses %j because of %s', (url, reason) => {
    expect(checkWebhookUrl(url)).toEqual({ ok: false, code: reason })
  })

  it.each([
    ['https://hooks.example.com/services/T0?x=1#y', 'hooks.example.com', false],
    ['https://Hooks.Example.COM:8443/', 'hooks.example.com', false],
    ['https://hooks.example.com./', 'hooks.example.com', false],
    ['https://bücher.example/', 'xn--bcher-kva.example', false],
    ['https://notlocalhost.example/', 'notlocalhost.example', false],
    ['https://93.184.216.34/', '93.184.216.34', true],
    ['https://[2606:4700::1111]:8443/', '2606:4700::1111', true],
    ['https://[::ffff:93.184.216.34]/', '::ffff:5db8:d822', true],
    ['https://100.63.255.255/', '100.63.255.255', true],
    ['https://172.32.0.1/', '172.32.0.1', true],
    ['https://[2001:200::1]/', '2001:200::1', true],
  ])('accepts %j', (url, host, isLiteralAddress) => {
    expect(checkWebhookUrl(url)).toMatchObject({ ok: true, target: { host, isLiteralAddress } })
  })

  it('accepts a name with other letters also once many were looked at', () => {
    const refused = Array.from({ length: 30_000 }, () => checkWebhookUrl('https://bücher.example/')).filter(
      ({ ok }) => !ok,
    )
    expect(refused).toEqual([])
  })

  it('resolves the location of a redirect against the page that sent it, and judges the result', () => {
    const base = new URL('https://hooks.example.com/a/b')
    const relative = checkWebhookUrl('../c', base)
    expect(relative.ok && relative.target.url.href).toBe('https://hooks.example.com/c')
    expect(checkWebhookUrl('//10.0.0.1/x', base)).toMatchObject({ code: 'private' })
    expect(checkWebhookUrl('///10.0.0.1/x', base)).toMatchObject({ code: 'private' })
    expect(checkWebhookUrl('http://hooks.example.com/', base)).toMatchObject({ code: 'not-https' })
    expect(checkWebhookUrl('//u:p@hooks.example.com/', base)).toMatchObject({ code: 'has-userinfo' })
  })
})

describe('judgeAddress', () => {
  it.each(['fe80::1%eth0', '2606:4700::1%1'])('refuses the zone of %s', (address) => {
    expect(judgeAddress(address)).toEqual({ ok: false, code: 'zone-id' })
  })

  it.each(['', 'example.com', '1.2.3', '01.2.3.4', '1:2', '[::1]'])(
    'refuses %j, which is no address',
    (text) => {
      expect(judgeAddress(text)).toEqual({ ok: false, code: 'not-an-address' })
    },
  )

  it('says of every IPv4 address the same as of its IPv4-mapped form', () => {
    const octet = fc.nat(255)
    fc.assert(
      fc.property(octet, octet, octet, octet, (a, b, c, d) => {
        const dotted = `${a}.${b}.${c}.${d}`
        const hex = `::ffff:${((a << 8) | b).toString(16)}:${((c << 8) | d).toString(16)}`
        expect(judgeAddress(`::ffff:${dotted}`)).toEqual(judgeAddress(dotted))
        expect(judgeAddress(hex)).toEqual(judgeAddress(dotted))
      }),
      { seed: 11, numRuns: 2000 },
    )
  })

  it('knows where each range begins and ends', () => {
    const edges: [string, AddressRefusal | null][] = [
      ['9.255.255.255', null],
      ['11.0.0.0', null],
      ['100.128.0.0', null],
      ['126.255.255.255', null],
      ['128.0.0.0', null],
      ['169.253.255.255', null],
      ['172.15.255.255', null],
      ['191.255.255.255', null],
      ['192.0.1.0', null],
      ['192.167.255.255', null],
      ['198.17.255.255', null],
      ['198.20.0.0', null],
      ['223.255.255.255', null],
      ['2001:db7:ffff::', null],
      ['2001:db9::', null],
      ['2003::', null],
      ['3ffe:ffff::', null],
      ['3fff:1000::', null],
      ['1fff::', 'reserved'],
      ['fbff::', 'reserved'],
      ['fe00::', 'reserved'],
    ]
    for (const [address, range] of edges) {
      const verdict = judgeAddress(address)
      expect(verdict.ok ? null : verdict.code, address).toBe(range)
    }
  })
})
