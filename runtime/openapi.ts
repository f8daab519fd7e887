import { ErrorBody } from '../lib/wire/errors.ts'
import type { AnyStruct } from '../lib/wire/structs.ts'
import type { AlsoNeeded, BodySpec, HttpFunction, Reach } from './define.ts'
import { type Loaded, splitRoute } from './loader.ts'
import { PROBLEMS, type ProblemCode } from './problems.ts'
import { bodySchema, type JsonSchema, namesIn, structSchema } from './struct-schema.ts'

/** What holds for every endpoint. */
const DESCRIPTION =
  'Query parameters and fields of bodies that an endpoint does not know are ignored: a list is filtered only by what is named here.'

/** An OpenAPI 3.1 document, as plain data. */
export interface OpenApiDocument {
  openapi: '3.1.0'
  info: { title: string; description: string; version: string; license: { name: string; identifier: string } }
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
  const query = structSchema(definition.query) as {
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
    if (body.json !== undefined)
      return { required: true, content: { 'application/json': { schema: structSchema(body.json) } } }
    return { required: true, content: { [body.mediaType ?? 'text/yaml']: { schema: { type: 'string' } } } }
  }
  return {
    required: body.whenAbsent === null,
    content: { 'application/json': { schema: structSchema(body.struct) } },
  }
}

/** Where the permission must be held, in words. */
const HELD: Readonly<Record<Reach, string>> = {
  nothing: 'held everywhere',
  workload: 'held on the workload',
  anywhere: 'held within any scope',
  filtered: 'held within a scope; the rest is left out',
  handler: 'held on everything that it reaches',
}

/** What a call needs beside the access of its endpoint, as its body says. */
export function alsoNeededOf(definition: HttpFunction): readonly AlsoNeeded[] {
  const body = definition.body as BodySpec<unknown>
  return body.kind === 'json' ? body.also : []
}

/** Every refusal and expected failure of an endpoint: the guards' own, and those that the function declares. */
export function problemsOf(definition: HttpFunction): ProblemCode[] {
  const codes = new Set<ProblemCode>(definition.errors)
  codes.add('internal-error').add('database-unavailable')
  if (definition.access.kind === 'signed-in') {
    codes
      .add('unauthorized')
      .add('origin-refused')
      .add('forbidden')
      .add('holder-inactive')
      .add('token-limited')
    if (definition.access.permission !== null) codes.add('out-of-scope')
    if ([definition.access, ...alsoNeededOf(definition)].some(({ credential }) => credential === 'session'))
      codes.add('session-required')
    if (definition.gate !== null) codes.add('feature-disabled')
  }
  if (refusesTexts(definition.query)) codes.add('invalid-query')
  for (const code of bodyProblems(definition.body as BodySpec<unknown>)) codes.add(code)
  return [...codes]
}

/** Whether a field of a query takes only some texts. */
function refusesTexts(fields: AnyStruct): boolean {
  const { properties = {} } = structSchema(fields) as { properties?: Record<string, JsonSchema> }
  return Object.values(properties).some((schema) => Object.keys(schema).join() !== 'type')
}

/** Why a JSON body is refused that is within its bytes. */
const FITTING = ['body-list-too-long', 'body-number-unsafe', 'body-too-deep', 'body-values-too-many'] as const

function bodyProblems(body: BodySpec<unknown>): ProblemCode[] {
  if (body.kind === 'none') return []
  const always = ['request-aborted', 'server-busy'] as const
  if (body.kind === 'json') return [...always, 'invalid-body', ...FITTING, 'body-too-large']
  const { tooLarge, invalid } = body.problems ?? { tooLarge: 'body-too-large', invalid: 'body-not-utf8' }
  return [...always, tooLarge, invalid]
}

function responsesOf(definition: HttpFunction): Operation['responses'] {
  const responses: Operation['responses'] = {}
  for (const { status, description, json, contentType } of definition.replies) {
    const response = responses[status] ?? { description }
    const [mediaType = ''] = json === undefined ? (contentType ?? '').split(';') : ['application/json']
    const isText = json === undefined && mediaType !== 'application/json'
    const schema = json === undefined ? (isText ? { type: 'string' } : {}) : structSchema(json)
    if (mediaType !== '') response.content = { ...response.content, [mediaType]: { schema } }
    responses[status] = response
  }
  for (const code of problemsOf(definition)) {
    const { status, error } = PROBLEMS[code]
    const before = responses[status]
    // A failure that shares its status with another reply is told beside it.
    const description = before === undefined ? error : `${before.description}; ${error}`
    const content = { ...before?.content, 'application/json': { schema: structSchema(ErrorBody) } }
    responses[status] = { description, content }
  }
  return responses
}

function operationOf({ id, definition }: Loaded<HttpFunction>): Operation {
  const parameters = parametersOf(definition)
  const requestBody = requestBodyOf(definition.body as BodySpec<unknown>)
  const { access, gate } = definition
  const needs = [
    access.kind === 'signed-in' && access.permission !== null
      ? `Permission \`${access.permission}\`, ${HELD[access.reach]}.`
      : '',
    access.kind === 'signed-in' && access.credential === 'session'
      ? 'Needs a session: API tokens are refused with `session_required`.'
      : '',
    ...alsoNeededOf(definition).map(
      ({ when, permission, credential }) =>
        `${when === null ? 'Also' : `With \`${when}\` also`} permission \`${permission}\`${credential === 'session' ? ', and a session' : ''}.`,
    ),
    gate === null ? '' : `Gate \`${gate}\`.`,
  ].filter((text) => text !== '')
  return {
    operationId: id.replaceAll('/', '.'),
    summary: definition.summary,
    tags: [id.split('/')[0]!],
    ...(needs.length > 0 ? { description: needs.join(' ') } : {}),
    ...(parameters.length > 0 ? { parameters } : {}),
    ...(requestBody === null ? {} : { requestBody }),
    responses: responsesOf(definition),
    security: access.kind === 'public' ? [] : [{ bearer: [] }, { cookie: [] }],
  }
}

/** Every named body that a function takes or answers, and what those are made of, by name. */
function schemasOf(functions: readonly Loaded<HttpFunction>[]): Record<string, object> {
  const found = namesIn([
    ErrorBody as AnyStruct,
    ...functions.flatMap(({ definition }) => structsOf(definition)),
  ])
  const names = [...found.keys()].sort()
  return Object.fromEntries(
    names.map((name) => {
      const { description, struct } = found.get(name)!
      return [name, { ...(description === '' ? {} : { description }), ...bodySchema(struct) }]
    }),
  )
}

function structsOf({ body, replies }: HttpFunction): AnyStruct[] {
  const taken = body as BodySpec<unknown>
  const input = taken.kind === 'json' ? taken.struct : taken.kind === 'text' ? taken.json : undefined
  const answered = replies.flatMap(({ json }) => (json === undefined ? [] : [json]))
  return input === undefined ? answered : [input, ...answered]
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
    info: {
      title: 'muster',
      description: DESCRIPTION,
      version,
      license: { name: 'Apache-2.0', identifier: 'Apache-2.0' },
    },
    tags: [...tags].sort().map((name) => ({ name })),
    paths: Object.fromEntries(Object.entries(paths).sort(([a], [b]) => (a < b ? -1 : 1))),
    components: {
      schemas: schemasOf(functions),
      securitySchemes: {
        bearer: {
          type: 'http',
          scheme: 'bearer',
          bearerFormat: 'the token of a login, or an API token (mst_…)',
        },
        cookie: { type: 'apiKey', in: 'cookie', name: 'om_session' },
      },
    },
  }
}
