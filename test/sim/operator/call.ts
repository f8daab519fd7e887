import { permissionsOf, ROLES } from '../../../lib/model/permissions.ts'
import { checkBody } from '../../../runtime/body.ts'
import type { Actor, HttpDefinition } from '../../../runtime/define.ts'
import { loadFunctions } from '../../../runtime/loader.ts'
import { FUNCTIONS } from '../../../runtime/manifest.generated.ts'
import { createRouter } from '../../../runtime/router.ts'
import { type AUTHOR, ask, type OperatorWorld } from './operator-world.ts'

const route = createRouter(loadFunctions(FUNCTIONS).http)

/** What a function of the API answered. */
export interface Called {
  ok: boolean
  code: string
  json: Record<string, unknown>
}

const toActor = (person: typeof AUTHOR): Actor => ({
  ...person,
  groups: [],
  permissions: new Set(permissionsOf(ROLES)),
  sessionId: 's',
  apiToken: null,
  grants: [{ permissions: permissionsOf(ROLES), scope: null }],
  credential: 'bearer',
})

/** Call a function of the API past its guards, as somebody who may do everything; null when no answer came. */
export function callAs(
  world: OperatorWorld,
  person: typeof AUTHOR,
  request: string,
  body: object = {},
): Promise<Called | null> {
  const [method = '', path = ''] = request.split(' ')
  const match = route(method, path)
  if (match.kind !== 'function') throw new Error(`no function answers ${request}: ${match.kind}`)
  const definition = match.function.definition as unknown as HttpDefinition
  const read = checkBody(definition.body, Buffer.from(JSON.stringify(body)))
  if (!read.ok) throw new Error(`${request} does not take ${JSON.stringify(body)}`)
  return ask(
    world,
    `${shorten(request)} ${JSON.stringify(body).slice(0, 200)}`,
    async ({ ctx }): Promise<Called> => {
      const asked = { params: match.params, query: {}, body: read.body, actor: toActor(person) }
      const incoming = {
        remoteAddress: '192.0.2.1',
        isSecure: false,
        header: () => '',
        onGone: () => {},
        target: { path, query: '' },
        sight: { scopes: null, sees: () => true },
      }
      const reply = await definition.handle({ ...asked, ...incoming }, ctx)
      const text = typeof reply.body === 'string' ? reply.body : ''
      const json = (text === '' ? {} : JSON.parse(text)) as Record<string, unknown>
      return { ok: reply.status < 400, code: String(json['code'] ?? json['error'] ?? ''), json }
    },
  )
}

const shorten = (request: string): string => request.replaceAll(/[0-9a-f-]{20,}/g, (id) => id.slice(-6))
