import { once } from 'node:events'
import { request } from 'node:http'
import { connect } from 'node:net'
import { describe, expect, it } from 'vitest'
import { useTestDatabase } from '../support/postgres.ts'
import { useTestService } from '../support/service.ts'

const database = await useTestDatabase()
const service = await useTestService(database, {
  corsOrigins: ['https://console.example', 'https://*.dev.example', 'http://localhost:5173'],
  cookieOrigins: ['https://console.example', 'https://*.dev.example'],
  trustedProxies: ['127.0.0.0/8'],
})

/** Send a request exactly as written; `fetch` would normalise the path and refuse the headers. */
function raw(
  method: string,
  path: string,
  headers: Record<string, string> = {},
  body = '',
): Promise<{ status: number; headers: Record<string, string | string[] | undefined>; body: string }> {
  const { port } = new URL(service.url)
  return new Promise((resolve, reject) => {
    const call = request({ host: '127.0.0.1', port, method, path, headers }, (answer) => {
      let text = ''
      answer.setEncoding('utf8')
      answer.on('data', (chunk: string) => {
        text += chunk
      })
      answer.on('end', () => resolve({ status: answer.statusCode ?? 0, headers: answer.headers, body: text }))
    })
    call.on('error', reject)
    call.end(body)
  })
}

/** Send a request with exactly these header lines; returns the whole answer as text. */
function rawLines(method: string, path: string, body: string, lines: readonly string[]): Promise<string> {
  const { port } = new URL(service.url)
  return new Promise((resolve, reject) => {
    const socket = connect(Number(port), '127.0.0.1')
    let answer = ''
    socket.on('data', (chunk: Buffer) => {
      answer += chunk.toString()
    })
    socket.on('error', reject)
    socket.on('close', () => resolve(answer))
    const head = [`${method} ${path} HTTP/1.1`, 'Host: muster', 'Connection: close', ...lines]
    socket.write(`${head.join('\r\n')}\r\nContent-Length: ${Buffer.byteLength(body)}\r\n\r\n${body}`)
  })
}

describe('an answer of the API listener', () => {
  it('carries the security headers, whatever it is', async () => {
    for (const path of ['/healthz', '/api/me', '/api/nothing', '/ws']) {
      const { headers } = await raw('GET', path)
      expect(headers).toMatchObject({
        'x-content-type-options': 'nosniff',
        'x-frame-options': 'DENY',
        'referrer-policy': 'strict-origin-when-cross-origin',
        'permissions-policy': 'camera=(), microphone=(), geolocation=()',
      })
      expect(headers['content-security-policy']).toContain("script-src 'self';")
      expect(headers['strict-transport-security']).toBeUndefined()
    }
  })

  it('lets a page connect to its own address alone', async () => {
    const allowed = async (path: string, host: string) =>
      /connect-src ([^;]*);/.exec(
        String((await raw('GET', path, { host })).headers['content-security-policy']),
      )?.[1]
    const host = 'muster.example.com:8443'
    expect(await allowed('/', host)).toBe(`'self' ws://${host} wss://${host}`)
    expect(await allowed('/', '[::1]:8080')).toBe("'self' ws://[::1]:8080 wss://[::1]:8080")
    for (const odd of ['*', 'a;b', 'a b', '*.example.com', 'a/b'])
      expect(await allowed('/', odd)).toBe("'self'")
    expect(await allowed('/api/me', host)).toBe("'self'")
  })

  it('asks browsers to stay on TLS when a trusted proxy says that it was TLS', async () => {
    const { headers } = await raw('GET', '/healthz', { 'x-forwarded-proto': 'https' })
    expect(headers['strict-transport-security']).toBe('max-age=31536000; includeSubDomains')
  })

  it('takes the word of the nearest proxy on TLS where several have said something', async () => {
    const said = (...lines: string[]) =>
      rawLines(
        'GET',
        '/healthz',
        '',
        lines.map((proto) => `X-Forwarded-Proto: ${proto}`),
      )
    for (const lines of [['https', 'https'], ['http, https'], ['http', 'https']])
      expect((await said(...lines)).toLowerCase()).toContain('strict-transport-security')
    for (const lines of [['https', 'http'], ['https, http']])
      expect((await said(...lines)).toLowerCase()).not.toContain('strict-transport-security')
  })

  it('is for the address that the nearest trusted proxy saw, whatever lines a client sends before', async () => {
    const address = '203.0.113.7'
    const guess = (first: string) =>
      rawLines('POST', '/api/auth/login', '{"email":"guess@example.com","password":"wrong"}', [
        `X-Forwarded-For: ${first}`,
        `X-Forwarded-For: ${address}`,
        'X-Forwarded-Proto: https',
        'X-Forwarded-Proto: http',
      ])
    const answers: string[] = []
    for (let n = 0; n < 6; n++) answers.push(await guess(`198.51.100.${n}`))
    expect(answers.map((answer) => answer.slice(9, 12))).toEqual(['401', '401', '401', '401', '401', '429'])
    expect(answers.join()).not.toMatch(/strict-transport-security/i)
    // A list in one header line is still accepted.
    const one = await raw('POST', '/api/auth/login', { 'x-forwarded-for': `192.0.2.1, ${address}` }, '{}')
    expect(one.status).toBe(400)
  })

  it('is for no cache where it is the API that answers, refusals included', async () => {
    const bodies = ['{', '{}', '{"email":"a@example.com","password":"wrong"}', ' '.repeat(1_048_577)]
    const answers = await Promise.all(bodies.map((body) => raw('POST', '/api/auth/login', {}, body)))
    expect(answers.map(({ status }) => status)).toEqual([400, 400, 401, 413])
    const refused = await raw('POST', '/api/auth/logout', {
      cookie: 'om_session=x',
      origin: 'https://evil.example',
    })
    expect(refused.status).toBe(403)
    const others = ['/api/auth/methods', '/api/workloads', '/api/nope'].map((path) => raw('GET', path))
    for (const { headers } of [
      ...answers,
      refused,
      await raw('POST', '/api/auth/logout'),
      ...(await Promise.all(others)),
    ])
      expect(headers).toMatchObject({ 'cache-control': 'no-store', pragma: 'no-cache' })
    expect((await raw('GET', '/healthz')).headers['cache-control']).toBeUndefined()
  })

  it('is JSON 404 for an unknown API path and 405 with Allow for a wrong method, before any credential', async () => {
    expect(await raw('GET', '/api/nope')).toMatchObject({ status: 404, body: '{"error":"not found"}\n' })
    expect(await raw('POST', '/api/me/')).toMatchObject({ status: 404 })
    const wrong = await raw('DELETE', '/api/me')
    expect(wrong).toMatchObject({ status: 405, body: '{"error":"method not allowed"}\n' })
    expect(wrong.headers['allow']).toBe('GET, HEAD')
  })

  it('to HEAD is that to GET without the body, and the connection goes on', async () => {
    const health = await raw('HEAD', '/healthz')
    expect(health).toMatchObject({ status: 200, body: '', headers: { 'content-length': '2' } })
    // The same connection again: the client keeps it open.
    expect(await raw('HEAD', '/readyz')).toMatchObject({ status: 200, body: '' })
    expect(await raw('GET', '/healthz')).toMatchObject({ status: 200, body: 'ok' })
  })

  it('is 401 in JSON without a credential, also on the legacy paths', async () => {
    expect(await raw('GET', '/api/me')).toMatchObject({ status: 401, body: '{"error":"unauthorized"}\n' })
    expect(await raw('GET', '/api/agents/abc')).toMatchObject({
      status: 401,
      body: '{"error":"unauthorized"}\n',
    })
  })

  it('keeps path and query of a legacy path as they were sent', async () => {
    const token = await service.token()
    const { status, headers } = await raw('GET', '/api/agents/a%2Fb/configs?x=1&y=%2F', {
      authorization: `bearer ${token}`,
    })
    expect(status).toBe(307)
    expect(headers['location']).toBe('/api/workloads/a%2Fb/configs?x=1&y=%2F')
  })

  it('is 413 for a body over the limit', async () => {
    const answer = await raw('POST', '/api/auth/login', {}, `{"email":"${'x'.repeat(1_100_000)}"}`)
    expect(answer).toMatchObject({ status: 413, body: '{"error":"request body too large"}\n' })
  })
})

describe('a page of another origin', () => {
  const preflight = (origin: string, method = 'PUT', headers = 'authorization, content-type') =>
    raw('OPTIONS', '/api/me/preferences', {
      origin,
      'access-control-request-method': method,
      'access-control-request-headers': headers,
    })

  it.each(['https://console.example', 'https://a.dev.example'])('may call when it is %s', async (origin) => {
    expect((await preflight(origin)).headers).toMatchObject({
      'access-control-allow-origin': origin,
      'access-control-allow-methods': 'PUT',
      'access-control-allow-credentials': 'true',
    })
    expect((await raw('GET', '/healthz', { origin })).headers).toMatchObject({
      vary: 'Origin',
      'access-control-allow-origin': origin,
      'access-control-expose-headers': 'Link, Content-Disposition, Retry-After, Muster-Outside-Scope',
    })
  })

  it.each(['https://evil.example', 'https://console.example.evil.example', 'null'])(
    'may not when it is %s',
    async (origin) => {
      const answer = await preflight(origin)
      expect(answer.status).toBe(200)
      expect(Object.keys(answer.headers).filter((name) => name.startsWith('access-control'))).toEqual([])
    },
  )

  it('reads with a token of its own, and without the cookie, where it is only the default that names it', async () => {
    const { headers } = await preflight('http://localhost:5173')
    expect(headers['access-control-allow-origin']).toBe('http://localhost:5173')
    expect(headers['access-control-allow-credentials']).toBeUndefined()
  })

  it('may not change anything with the session cookie', async () => {
    const token = await service.token()
    const change = (origin: string) =>
      raw(
        'PUT',
        '/api/me/preferences',
        { cookie: `om_session=${token}`, ...(origin === '' ? {} : { origin }) },
        '{"theme":"dark","language":"fr"}',
      )
    expect(await change('https://evil.example')).toMatchObject({ status: 403 })
    expect(await change('http://localhost:5173')).toMatchObject({ status: 403 })
    expect(await change('https://console.example')).toMatchObject({ status: 200 })
    expect(await change('')).toMatchObject({ status: 200 })
    expect(await change(service.url)).toMatchObject({ status: 200 })
  })
})

describe('a request whose end a proxy may see elsewhere', () => {
  const CHUNKED = '2\r\n{}\r\n0\r\n\r\n'

  /** What is answered to a request with these header lines and this body, until the connection is closed. */
  function answersTo(
    lines: readonly string[],
    body: string,
    request = 'POST /api/auth/login HTTP/1.1',
  ): Promise<string> {
    const { port } = new URL(service.url)
    return new Promise((resolve, reject) => {
      const socket = connect(Number(port), '127.0.0.1')
      let answers = ''
      socket.on('data', (data) => {
        answers += data
      })
      socket.on('error', reject)
      socket.on('close', () => resolve(answers))
      const head = [request, 'Host: h', ...lines].join('\r\n')
      socket.write(`${head}\r\n\r\n${body}`)
    })
  }
  const BEHIND = 'GET /healthz HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n'
  const statuses = (answers: string) =>
    [...answers.matchAll(/^HTTP\/1.1 (\d+)/gm)].map(([, status]) => status)

  it.each([
    ['two lengths', ['Content-Length: 2', 'Content-Length: 40'], '{}'],
    ['a length twice', ['Content-Length: 2', 'Content-Length: 2'], '{}'],
    ['two encodings', ['Transfer-Encoding: identity', 'Transfer-Encoding: chunked'], CHUNKED],
    ['chunks twice', ['Transfer-Encoding: chunked', 'Transfer-Encoding: chunked'], CHUNKED],
    ['chunks in another encoding', ['Transfer-Encoding: gzip, chunked'], CHUNKED],
    ['no encoding that is one', ['Transfer-Encoding: identity'], ''],
    ['a length and chunks', ['Content-Length: 2', 'Transfer-Encoding: chunked'], CHUNKED],
    ['chunks and a length', ['Transfer-Encoding: chunked', 'Content-Length: 2'], CHUNKED],
    ['a list of lengths', ['Content-Length: 2, 2'], '{}'],
  ])('with %s gets 400 and is cut, and nothing behind it is taken for a request', async (_, lines, body) => {
    expect(statuses(await answersTo(lines, body))).toEqual(['400'])
    expect(statuses(await answersTo(lines, body + BEHIND))).not.toContain('200')
  })

  const UPGRADE = [
    'Connection: Upgrade',
    'Upgrade: websocket',
    'Sec-WebSocket-Version: 13',
    'Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==',
    'Authorization: Bearer none',
  ]
  const socketAnswers = (lines: readonly string[], body: string) =>
    answersTo([...UPGRADE, ...lines], body, 'GET /ws HTTP/1.1')

  it.each([
    ['two lengths', ['Content-Length: 0', 'Content-Length: 40'], ''],
    ['a length twice', ['Content-Length: 0', 'Content-Length: 0'], ''],
    ['a length and chunks', ['Content-Length: 0', 'Transfer-Encoding: chunked'], '0\r\n\r\n'],
    ['chunks, which would be taken for messages', ['Transfer-Encoding: chunked'], CHUNKED],
    ['a body, which would be taken for messages', ['Content-Length: 2'], '{}'],
    ['an encoding that is none', ['Transfer-Encoding: identity'], ''],
  ])('is no handshake of a socket either with %s', async (_, lines, body) => {
    expect(statuses(await socketAnswers(lines, body))).toEqual(['400'])
    expect(statuses(await socketAnswers(lines, body + BEHIND))).not.toContain('200')
  })

  it('is a handshake without a body, which may say so', async () => {
    for (const lines of [[], ['Content-Length: 0']]) {
      const socket = connect(Number(new URL(service.url).port), '127.0.0.1')
      socket.write(`${['GET /ws HTTP/1.1', 'Host: h', ...UPGRADE, ...lines].join('\r\n')}\r\n\r\n`)
      const [answer] = (await once(socket, 'data')) as [Buffer]
      socket.destroy()
      expect(statuses(answer.toString())).toEqual(['401'])
    }
  })

  it.each([
    ['a length', ['Content-Length: 2'], '{}'],
    ['chunks', ['Transfer-Encoding: Chunked'], CHUNKED],
  ])('is not one with %s, and what is behind it is answered', async (_, lines, body) => {
    const answers = statuses(await answersTo(lines, body + BEHIND))
    expect(answers).toEqual([expect.any(String), '200'])
  })
})
