import { readServerVersion } from '../../lib/store/server-version.ts'
import { SystemInfo } from '../../lib/wire/system.ts'
import { defineHttp, noBody, noParams, noQuery, signedIn } from '../../runtime/define.ts'
import { json } from '../../runtime/reply.ts'

/** Which build runs here, since when, on what, and where it listens. No credential and no database address. */
export default defineHttp({
  route: 'GET /api/system/info',
  summary: 'Versions, edition, start and listeners of this process.',
  access: signedIn('settings:manage', 'nothing'),
  gate: null,
  params: noParams,
  query: noQuery,
  body: noBody,
  replies: [{ status: 200, description: 'The versions and the listeners.', json: SystemInfo }],
  errors: [],
  async handle(_, ctx) {
    const { listenAddress, opampAddress, metricsAddress } = ctx.config
    const info: SystemInfo = {
      version: ctx.running.version,
      edition: ctx.edition.name,
      started_at: ctx.running.startedAt.toISOString(),
      node_version: ctx.running.nodeVersion,
      postgresql_version: await readServerVersion(ctx.db),
      listeners: [
        { name: 'api', address: listenAddress },
        { name: 'opamp', address: opampAddress },
        ...(metricsAddress === '' ? [] : [{ name: 'metrics' as const, address: metricsAddress }]),
      ],
    }
    return json(info)
  },
})
