import { describe, expect, it } from 'vitest'
import type { HttpFunction } from '../../runtime/define.ts'
import { defineHttp, noBody, noParams, noQuery, publicAccess } from '../../runtime/define.ts'
import { type Loaded, loadFunctions } from '../../runtime/loader.ts'
import { noContent } from '../../runtime/reply.ts'
import { createRouter } from '../../runtime/router.ts'

function endpoint(route: HttpFunction['route'], id: string = route): Loaded<HttpFunction> {
  const definition = defineHttp({
    route,
    summary: 'For the test.',
    access: publicAccess('test'),
    gate: null,
    params: noParams,
    query: noQuery,
    body: noBody,
    replies: [],
    errors: [],
    handle: () => noContent(),
  })
  return { id, definition }
}

const router = createRouter([
  endpoint('GET /api/workloads/:id'),
  endpoint('GET /api/workloads/version-intelligence'),
  endpoint('DELETE /api/workloads/:id'),
  endpoint('ANY /api/agents/:rest+'),
])
const idOf = (method: string, path: string) => {
  const match = router(method, path)
  return match.kind === 'function' ? match.function.id : match.kind
}

describe('routing', () => {
  it('prefers a static segment to a parameter, method by method', () => {
    expect(idOf('GET', '/api/workloads/version-intelligence')).toBe('GET /api/workloads/version-intelligence')
    expect(idOf('DELETE', '/api/workloads/version-intelligence')).toBe('method-not-allowed')
    expect(idOf('GET', '/api/workloads/abc')).toBe('GET /api/workloads/:id')
  })

  it('names the methods of a known path', () => {
    expect(router('PUT', '/api/workloads/abc')).toEqual({
      kind: 'method-not-allowed',
      allow: ['DELETE', 'GET', 'HEAD'],
    })
  })

  it('answers HEAD wherever GET is answered', () => {
    expect(idOf('HEAD', '/api/workloads/abc')).toBe('GET /api/workloads/:id')
  })

  it('decodes a parameter exactly once and never splits on an encoded slash', () => {
    expect(router('GET', '/api/workloads/k8s%3Aprod')).toMatchObject({ params: { id: 'k8s:prod' } })
    expect(router('GET', '/api/workloads/a%2Fb')).toMatchObject({ params: { id: 'a/b' } })
    expect(router('GET', '/api/workloads/%2525')).toMatchObject({ params: { id: '%25' } })
  })

  it.each([
    '/api/workloads/',
    '/api/workloads/%E0%A4%A',
    '//evil.example/api',
    '/api/agents/../workloads',
    '/api/agents/%2e%2e',
    '/api\\workloads',
  ])('knows nothing at %s', (path) => {
    expect(idOf('GET', path)).toBe('unknown')
  })
})

describe('loading functions', () => {
  it('reports every fault at once, with the function it is in', () => {
    const { summary: _, ...incomplete } = endpoint('GET /a').definition
    const load = () =>
      loadFunctions([
        { id: 'a', definition: incomplete as HttpFunction },
        { id: 'b', definition: { ...endpoint('GET /b').definition, acess: 1 } as unknown as HttpFunction },
      ])
    expect(load).toThrow(/a: "summary" is missing[\s\S]*b: unknown key "acess"/)
  })

  it('refuses routes that differ only in the name of a parameter', () => {
    expect(() => loadFunctions([endpoint('GET /w/:id', 'one'), endpoint('GET /w/:name', 'two')])).toThrow(
      /two: route "GET \/w\/:name" clashes with "GET \/w\/:id" of one/,
    )
  })
})
