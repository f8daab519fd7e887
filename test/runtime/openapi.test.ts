import { readdirSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import Ajv from 'ajv/dist/2020.js'
import { boolean, defaulted, enums, integer, nullable, optional, string, type } from 'superstruct'
import { afterAll, describe, expect, it } from 'vitest'
import { loadFunctions } from '../../runtime/loader.ts'
import { FUNCTIONS } from '../../runtime/manifest.generated.ts'
import { buildOpenApi, type OpenApiDocument } from '../../runtime/openapi.ts'
import { structSchema } from '../../runtime/struct-schema.ts'
import { createTestContext, invoke } from '../support/invoke.ts'
import { useTestDatabase } from '../support/postgres.ts'

const database = await useTestDatabase()
const ctx = createTestContext(database)
afterAll(() => ctx.close())

const functions = loadFunctions(FUNCTIONS)
const document = buildOpenApi(functions.http, '1.2.3')
const operations = Object.entries(document.paths).flatMap(([path, methods]) =>
  Object.entries(methods).map(([method, operation]) => ({ path, method, operation })),
)

describe('the OpenAPI document', () => {
  it('is served to everybody, as it is built', async () => {
    const answer = await invoke(ctx, 'GET /api/openapi.json')
    expect(answer.status).toBe(200)
    expect(answer.json).toEqual({ ...buildOpenApi(functions.http, 'test') })
    expect((answer.json as OpenApiDocument).openapi).toBe('3.1.0')
  })

  it('has one operation for each endpoint, but for the legacy redirects', () => {
    const ids = operations.map(({ operation }) => operation.operationId)
    expect(new Set(ids).size).toBe(ids.length)
    const wanted = functions.http.filter(({ definition }) => !definition.route.startsWith('ANY '))
    expect(ids.sort()).toEqual(wanted.map(({ id }) => id.replaceAll('/', '.')).sort())
  })

  it('gives no two things one name, for the first of them would be described in place of the other', () => {
    const WIRE = fileURLToPath(new URL('../../lib/wire/', import.meta.url))
    const files = readdirSync(WIRE).map((file) => readFileSync(WIRE + file, 'utf8'))
    const names = files.flatMap((text) => [...text.matchAll(/\bnamed\(\s*'(\w+)'/g)].map((match) => match[1]))
    expect(names.length).toBeGreaterThan(100)
    expect(names.filter((name, index) => names.indexOf(name) !== index)).toEqual([])
  })

  it('describes the body of a report request, which its function reads itself', () => {
    const { requestBody } = document.paths['/api/reports/evidence-pack']!['post']!
    const schema = { $ref: '#/components/schemas/ReportExportRequest' }
    expect(requestBody).toEqual({ required: true, content: { 'application/json': { schema } } })
  })

  it('names every parameter of every path, and no other', () => {
    for (const { path, operation } of operations) {
      const named = [...path.matchAll(/\{([a-z_]+)\}/g)].map((match) => match[1])
      const parameters = (operation.parameters ?? []) as { name: string; in: string; required: boolean }[]
      const inPath = parameters.filter((one) => one.in === 'path')
      expect(
        inPath.map((one) => one.name),
        path,
      ).toEqual(named)
      expect(
        inPath.every((one) => one.required),
        path,
      ).toBe(true)
      const keys = parameters.map((one) => `${one.in} ${one.name}`)
      expect(new Set(keys).size, path).toBe(keys.length)
    }
  })

  it('has a description, a known status and declared tags everywhere', () => {
    const tags = new Set(document.tags.map((tag) => tag.name))
    for (const { path, method, operation } of operations) {
      expect(operation.summary, path).not.toBe('')
      expect(operation.tags.every((tag) => tags.has(tag))).toBe(true)
      expect(['get', 'post', 'put', 'patch', 'delete']).toContain(method)
      for (const [status, response] of Object.entries(operation.responses)) {
        expect(status).toMatch(/^[1-5][0-9][0-9]$/)
        expect(response.description).not.toBe('')
      }
      for (const scheme of operation.security.flatMap(Object.keys)) {
        expect(document.components.securitySchemes).toHaveProperty(scheme)
      }
    }
  })

  it('refers only to schemas that are there, and all of them are JSON Schema', () => {
    const text = JSON.stringify(document)
    for (const [, name] of text.matchAll(/"\$ref":"#\/components\/schemas\/([^"]+)"/g)) {
      expect(document.components.schemas, name).toHaveProperty(name!)
    }
    expect(text.match(/"\$ref":"(?!#\/components\/schemas\/)/)).toBeNull()
    const ajv = new Ajv.default({ strict: false })
    ajv.addSchema({ $id: 'openapi', components: { schemas: document.components.schemas } })
    for (const name of Object.keys(document.components.schemas)) {
      expect(() => ajv.compile({ $ref: `openapi#/components/schemas/${name}` }), name).not.toThrow()
    }
  })

  it('tells the shape of every JSON answer', () => {
    const untold = operations.flatMap(({ operation }) =>
      Object.entries(operation.responses).flatMap(([status, response]) => {
        const schema = response.content?.['application/json']?.schema
        return schema !== undefined && Object.keys(schema).length === 0
          ? [`${operation.operationId} ${status}`]
          : []
      }),
    )
    // Only the endpoint that serves the document has no schema in it.
    expect(untold).toEqual(['system.openapi 200'])
  })
})

describe('the schemas', () => {
  it('of request bodies say what may be left out', () => {
    const struct = type({
      a: string(),
      b: optional(string()),
      c: defaulted(integer(), 1),
      d: optional(nullable(boolean())),
      e: enums(['x', 'y']),
    })
    expect(structSchema(struct as never)).toEqual({
      type: 'object',
      properties: {
        a: { type: 'string' },
        b: { type: 'string' },
        c: { type: 'integer' },
        d: { anyOf: [{ type: 'boolean' }, { type: 'null' }] },
        e: { type: 'string', enum: ['x', 'y'] },
      },
      required: ['a', 'e'],
    })
  })
})
