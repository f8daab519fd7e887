import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { chooseEncoding } from '../../runtime/encodings.ts'
import { openStaticFiles } from '../../runtime/static-files.ts'

let folder = ''
let files: ReturnType<typeof openStaticFiles>

function get(path: string, headers: Record<string, string> = {}, method = 'GET') {
  return files({ method, path, header: (name) => headers[name] ?? '' })
}

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'static-'))
  mkdirSync(join(folder, 'ui', 'assets'), { recursive: true })
  writeFileSync(join(folder, 'secret.txt'), 'outside')
  writeFileSync(join(folder, 'ui', 'index.html'), '<!doctype html>page')
  writeFileSync(join(folder, 'ui', 'favicon.svg'), '<svg/>')
  writeFileSync(join(folder, 'ui', 'assets', 'main-ABC.js'), 'plain')
  writeFileSync(join(folder, 'ui', 'assets', 'main-ABC.js.br'), 'brotli')
  writeFileSync(join(folder, 'ui', 'assets', 'main-ABC.js.gz'), 'gzipped')
  files = openStaticFiles(join(folder, 'ui'))
})

afterAll(() => rmSync(folder, { recursive: true }))

describe('static files', () => {
  test('a hashed asset is kept for ever, the page never', () => {
    expect(get('/assets/main-ABC.js')?.headers).toMatchObject({
      'Content-Type': 'text/javascript; charset=utf-8',
      'Cache-Control': 'public, max-age=31536000, immutable',
      Vary: 'Accept-Encoding, Origin',
    })
    expect(get('/')?.headers).toMatchObject({
      'Content-Type': 'text/html; charset=utf-8',
      'Cache-Control': 'no-cache',
    })
    expect(get('/favicon.svg')?.headers['Content-Type']).toBe('image/svg+xml')
  })

  test('an unknown path is the page, a missing asset is 404', () => {
    expect(Buffer.from(get('/workloads/abc/health')?.body as Uint8Array).toString()).toBe(
      '<!doctype html>page',
    )
    expect(get('/assets/gone.js')?.status).toBe(404)
    expect(get('/assets/GONE.CSS')?.status).toBe(404)
  })

  test('no path leads out of the folder, and the compressed copies have no address of their own', () => {
    for (const path of ['/../secret.txt', '/assets/../../secret.txt', '/%2e%2e/secret.txt', '//secret.txt'])
      expect(get(path)?.status).toBe(404)
    expect(get('/assets/main-ABC.js.br')?.status).toBe(404)
  })

  test('only GET and HEAD are answered', () => {
    expect(get('/', {}, 'POST')).toBeNull()
    expect(get('/', {}, 'HEAD')?.status).toBe(200)
  })

  test('the client gets the encoding that it takes, each with its own tag', () => {
    const brotli = get('/assets/main-ABC.js', { 'accept-encoding': 'gzip, deflate, br' })
    expect(brotli?.headers['Content-Encoding']).toBe('br')
    expect(Buffer.from(brotli?.body as Uint8Array).toString()).toBe('brotli')
    const plain = get('/assets/main-ABC.js')
    expect(plain?.headers['Content-Encoding']).toBeUndefined()
    expect(plain?.headers['ETag']).not.toBe(brotli?.headers['ETag'])
  })

  test('what the client has is not sent again', () => {
    const etag = get('/')?.headers['ETag'] ?? ''
    const again = get('/', { 'if-none-match': `"other", W/${etag}` })
    expect(again).toMatchObject({ status: 304, body: null })
  })

  test('without a build the page says how to make one', () => {
    const empty = openStaticFiles(join(folder, 'nothing'))
    const reply = empty({ method: 'GET', path: '/', header: () => '' })
    expect(reply).toMatchObject({ status: 404, body: 'The browser UI is not built: npm run build\n' })
  })
})

test.each([
  ['', 'identity'],
  ['br', 'br'],
  ['gzip;q=1, br;q=0.5', 'gzip'],
  ['br;q=0, gzip', 'gzip'],
  ['*', 'br'],
  ['br;q=x', 'identity'],
  ['deflate', 'identity'],
] as const)('Accept-Encoding %j chooses %s', (header, chosen) => {
  expect(chooseEncoding(header, ['br', 'gzip', 'identity'])).toBe(chosen)
})
