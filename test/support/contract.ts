import Ajv, { type ValidateFunction } from 'ajv/dist/2020.js'
import type { ErrorBody } from '../../lib/wire/errors.ts'
import type { HttpFunction } from '../../runtime/define.ts'
import type { Loaded } from '../../runtime/loader.ts'
import { splitRoute } from '../../runtime/loader.ts'
import { type OpenApiDocument, problemsOf } from '../../runtime/openapi.ts'
import { wireCodeOf } from '../../runtime/problems.ts'

/** Checks answers of the API against the OpenAPI document. */
export interface Contract {
  /** Throws when an answer has a status, a content type, a shape or a code that the document does not list. */
  check(
    called: Loaded<HttpFunction>,
    answer: { status: number; headers: Readonly<Record<string, string>>; json: unknown },
  ): void
}

/** Check that a refusal has a code that its function declares, and a sentence without unfilled gaps. */
function checkRefusal(id: string, definition: HttpFunction, { code, error }: ErrorBody): void {
  const declared = problemsOf(definition).map(wireCodeOf)
  if (!declared.includes(code ?? null))
    throw new Error(`${id} answered the code ${code}, which its metadata does not name`)
  if (/\{(?!id\})\w+\}/.test(error)) throw new Error(`${id} left a gap in its sentence: ${error}`)
}

/** Make a contract from a document. Schemas are compiled when they are first needed. */
export function createContract(document: OpenApiDocument): Contract {
  const ajv = new Ajv.default({ strict: false, allErrors: true })
  ajv.addSchema({ $id: 'openapi', components: { schemas: document.components.schemas } })
  const compiled = new Map<string, ValidateFunction>()
  const compile = (key: string, schema: object): ValidateFunction => {
    const known = compiled.get(key)
    if (known !== undefined) return known
    const local = JSON.stringify(schema).replaceAll('"$ref":"#/', '"$ref":"openapi#/')
    const validate = ajv.compile(JSON.parse(local) as object)
    compiled.set(key, validate)
    return validate
  }
  return {
    check({ id, definition }, { status, headers, json }) {
      const { method, path } = splitRoute(definition.route)
      if (method === 'ANY') return
      const operation = document.paths[path.replace(/:([a-z_]+)\+?/g, '{$1}')]?.[method.toLowerCase()]
      const response = operation?.responses[status]
      if (response === undefined)
        throw new Error(`${id} answered ${status}, which its metadata does not name`)
      const mediaType = headers['Content-Type']?.split(';')[0]
      if (mediaType === undefined) return
      const schema = response.content?.[mediaType]?.schema
      if (schema === undefined) throw new Error(`${id} answered ${status} with an undeclared ${mediaType}`)
      if (mediaType !== 'application/json') return
      const validate = compile(`${id} ${status}`, schema)
      if (!validate(json)) throw new Error(`${id} ${status}: ${ajv.errorsText(validate.errors)}`)
      if (status >= 400) checkRefusal(id, definition, json as ErrorBody)
    },
  }
}
