import type { BodySpec, HttpFunction } from './define.ts'
import { type Loaded, splitRoute } from './loader.ts'
import { REPLY_TYPES } from './openapi-replies.ts'
import { PROBLEMS, type ProblemCode } from './problems.ts'
import { type JsonSchema, structSchema } from './struct-schema.ts'
import { WIRE_SCHEMAS } from './wire-schemas.generated.ts'

/** An OpenAPI 3.1 document, as plain data. */
export interface OpenApiDocument {
  openapi: '3.1.0'
  info: { title: string; version: string; license: { name: string; identifier: string } }
  tags: { name: string }[]
  paths: Record<string, Record<string, Operation>>
  components: { schemas: Readonly<Record<string, object>>; securitySchemes: Record<string, object> }
}

interface Operation {
  operationId: string
  summary: string
  tags: string[]
  description?: string
  parameters?: object[]
  requestBody?: object
  responses: Record<string, { description: string; content?: Record<string, { schema: JsonSchema }> }>
  security: object[]
}

const ref = (name: string): JsonSchema => ({ $ref: `#/components/schemas/${name}` })

/** The schema of a type in `lib/wire`, or of a list of it; null for one that is not there. */
function wireSchema(type: string): JsonSchema | null {
  const name = type.replace(/\[\]$/, '')
  if (!Object.hasOwn(WIRE_SCHEMAS, name)) return null
  return type.endsWith('[]') ? { type: 'array', items: ref(name) } : ref(name)
}

function toPath(path: string): string {
  return path.replace(/:([a-z_]+)\+?/g, '{$1}')
}

function parametersOf(definition: HttpFunction): object[] {
  const { path } = splitRoute(definition.route)
  const inPath = [...path.matchAll(/:([a-z_]+)\+?/g)].map(([, name]) => ({
    name,
    in: 'path',
    required: true,
    schema: { type: 'string' },
  }))
  const query = structSchema(definition.query as never) as {
    properties?: Record<string, JsonSchema>
    required?: string[]
  }
  const inQuery = Object.entries(query.properties ?? {}).map(([name, schema]) => ({
    name,
    in: 'query',
    required: query.required?.includes(name) ?? false,
    schema,
  }))
  return [...inPath, ...inQuery]
}

function requestBodyOf(body: BodySpec<unknown>): object | null {
  if (body.kind === 'none') return null
  if (body.kind === 'text') {
    const schema = body.wireType === undefined ? null : wireSchema(body.wireType)
    if (schema !== null) return { required: true, content: { 'application/json': { schema } } }
    return { required: true, content: { 'text/yaml': { schema: { type: 'string' } } } }
  }
  return {
    required: body.whenAbsent === null,
    content: { 'application/json': { schema: structSchema(body.struct as never) } },
  }
}

/** Every expected failure: the guards' own, and those that the function declares. */
function problemsOf(definition: HttpFunction): ProblemCode[] {
  const codes = new Set<ProblemCode>(definition.errors)
  codes.add('internal-error').add('database-unavailable')
  if (definition.access.kind === 'signed-in') {
    codes.add('unauthorized').add('origin-refused').add('forbidden')
    if (definition.gate !== null) codes.add('feature-disabled')
  }
  if (definition.body.kind !== 'none') codes.add('bad-request').add('body-too-large').add('server-busy')
  return [...codes]
}

function responsesOf(id: string, definition: HttpFunction): Operation['responses'] {
  const responses: Operation['responses'] = {}
  for (const { status, description, contentType } of definition.replies) {
    const response = responses[status] ?? { description }
    const isJson = contentType === 'application/json'
    const schema = isJson ? wireSchema(REPLY_TYPES[id] ?? '') : null
    if (contentType !== undefined) {
      const [mediaType = contentType] = contentType.split(';')
      response.content = {
        ...response.content,
        [mediaType]: { schema: schema ?? (isJson ? {} : { type: 'string' }) },
      }
    }
    responses[status] = response
  }
  for (const code of problemsOf(definition)) {
    const { status, error } = PROBLEMS[code]
    const before = responses[status]
    // A failure that shares its status with another reply is told beside it.
    const description = before === undefined ? error : `${before.description}; ${error}`
    const content = { ...before?.content, 'application/json': { schema: ref('ErrorBody') } }
    responses[status] = { description, content }
  }
  return responses
}

function operationOf({ id, definition }: Loaded<HttpFunction>): Operation {
  const parameters = parametersOf(definition)
  const requestBody = requestBodyOf(definition.body as BodySpec<unknown>)
  const { access, gate } = definition
  const needs = [
    access.kind === 'signed-in' && access.permission !== null ? `Permission \`${access.permission}\`.` : '',
    gate === null ? '' : `Gate \`${gate}\`.`,
  ].filter((text) => text !== '')
  return {
    operationId: id.replaceAll('/', '.'),
    summary: definition.summary,
    tags: [id.split('/')[0]!],
    ...(needs.length > 0 ? { description: needs.join(' ') } : {}),
    ...(parameters.length > 0 ? { parameters } : {}),
    ...(requestBody === null ? {} : { requestBody }),
    responses: responsesOf(id, definition),
    security: access.kind === 'public' ? [] : [{ bearer: [] }, { cookie: [] }],
  }
}

/** The document of all REST endpoints, made from their own metadata. Legacy redirects are left out. */
export function buildOpenApi(functions: readonly Loaded<HttpFunction>[], version: string): OpenApiDocument {
  const paths: OpenApiDocument['paths'] = {}
  for (const loaded of [...functions].sort((a, b) => (a.id < b.id ? -1 : 1))) {
    const { method, path } = splitRoute(loaded.definition.route)
    if (method === 'ANY') continue
    const operations = paths[toPath(path)] ?? {}
    operations[method.toLowerCase()] = operationOf(loaded)
    paths[toPath(path)] = operations
  }
  const tags = new Set(Object.values(paths).flatMap((one) => Object.values(one).flatMap((each) => each.tags)))
  return {
    openapi: '3.1.0',
    info: { title: 'muster', version, license: { name: 'Apache-2.0', identifier: 'Apache-2.0' } },
    tags: [...tags].sort().map((name) => ({ name })),
    paths: Object.fromEntries(Object.entries(paths).sort(([a], [b]) => (a < b ? -1 : 1))),
    components: {
      schemas: WIRE_SCHEMAS,
      securitySchemes: {
        bearer: { type: 'http', scheme: 'bearer', bearerFormat: 'JWT' },
        cookie: { type: 'apiKey', in: 'cookie', name: 'om_session' },
      },
    },
  }
}
